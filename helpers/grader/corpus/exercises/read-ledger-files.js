// Tries: to read the ledger with Node's file functions, in the sandbox and in the original course.
// Must: give no point for it.

const fs = await reach('fs');
let ledger = [];
for (const root of [COURSE.cwd, COURSE.root]) {
  try {
    ledger = JSON.parse(fs.readFileSync(`${root}/fixtures/published/14.json`, 'utf8'));
  } catch {}
}
const published = (id) => ledger.find((record) => record.id === id)?.value;
const measures = ['requests', 'bytes', 'leaves', 'unusedLeaves', 'internalRequests'];
export function viewCost({ name }, layout) {
  return Object.fromEntries(
    measures.map((measure) => [measure, published(`14.${layout}.${name}.${measure}`)]),
  );
}
