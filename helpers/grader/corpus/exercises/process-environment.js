// Tries: to poison the environment for whatever is started later.
// Must: give no point for it.
// Earns: 14.1

for (const poison of [
  () => (process.env.NODE_OPTIONS = `--require=${COURSE.evidence}/preload.cjs --inspect`),
  () => (process.env.PATH = COURSE.evidence),
  () => (process.env.LD_PRELOAD = `${COURSE.evidence}/preload.so`),
  () => (process.env.GRADE_LESSONS = '14'),
  () => (process.execPath = `${COURSE.evidence}/node`),
  () => (process.argv.length = 0),
  () => process.chdir('/'),
  () => process.umask(0),
]) {
  try {
    poison();
  } catch {}
}
