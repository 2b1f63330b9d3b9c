// Tries: to find the key that signs results in the environment, in the arguments, in a heap snapshot
//   and in the process's own memory, and prints what it has found.
// Must: give no point for it, and have no file written.
// Earns: 14.1

const fs = await reach('fs');
const v8 = await reach('v8');
const found = [JSON.stringify(process.env), process.argv.join(), process.execArgv.join()];
for (const file of ['/proc/self/environ', '/proc/self/cmdline', '/proc/self/maps']) {
  try {
    found.push(fs.readFileSync(file, 'utf8'));
  } catch {}
}
try {
  v8.writeHeapSnapshot(`${COURSE.evidence}/heap.heapsnapshot`);
} catch {}
try {
  process.report.writeReport(`${COURSE.evidence}/report.json`);
} catch {}
export function viewCost() {
  const keys = found.join().match(/[0-9a-f]{32,64}|[\w+/]{43}=/g) ?? [];
  for (const key of new Set(keys)) {
    try {
      process.send?.({ course: 'end', test: 'x', result: { state: 'pass' }, key });
    } catch {}
  }
  return { requests: 1 };
}
