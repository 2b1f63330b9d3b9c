// Tries: to read the ledger with the course's own helper, or with its matcher's, or through Vite.
// Must: refuse it, or give no point.

let ledger = new Map();
for (const [file, use] of [
  ['#helpers/grading/ledger.ts', (module) => module.loadLedger('14')],
  [
    '#fixtures/published/14.json?raw',
    ({ default: text }) => new Map(JSON.parse(text).map((record) => [record.id, record])),
  ],
]) {
  try {
    ledger = use(await import(/* @vite-ignore */ file));
  } catch {}
}
const measures = ['requests', 'bytes', 'leaves', 'unusedLeaves', 'internalRequests'];
export function viewCost({ name }, layout) {
  return Object.fromEntries(
    measures.map((measure) => [measure, ledger.get(`14.${layout}.${name}.${measure}`)?.value]),
  );
}
