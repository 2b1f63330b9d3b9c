// Tries: to import the ledger, and to return what the course publishes.
// Must: refuse the import, or give no point.

import ledger from '#fixtures/published/14.json';

const published = (id) => ledger.find((record) => record.id === id)?.value;
const measures = ['requests', 'bytes', 'leaves', 'unusedLeaves', 'internalRequests'];
export function viewCost({ name }, layout) {
  return Object.fromEntries(
    measures.map((measure) => [measure, published(`14.${layout}.${name}.${measure}`)]),
  );
}
