// Tries: to write into the original course, where the linked node_modules or a guess leads: a spec,
//   a reference, a ledger, a file of its own, and the caches below node_modules.
// Must: leave every file of the course as it was.
// Earns: 14.1

const fs = await reach('fs');
for (const file of [
  'lessons/14-backend-for-frontend/backend-for-frontend.spec.ts',
  'lessons/14-backend-for-frontend/solution.ts',
  'lessons/11-api-gateway/solution.ts',
  'fixtures/published/14.json',
  'package.json',
  'vitest.config.ts',
  'was-here.txt',
]) {
  try {
    fs.writeFileSync(`${COURSE.root}/${file}`, '// written by a submission\n');
  } catch {}
}
for (const file of ['.vite/was-here.json', '.vite-temp/was-here.mjs', 'was-here.txt']) {
  for (const root of [COURSE.cwd, COURSE.root]) {
    try {
      fs.writeFileSync(`${root}/node_modules/${file}`, '// written by a submission\n');
    } catch {}
  }
}
