// Tries: to read what a test expects from the test itself: out of the spec's text.
// Must: give no point for it.

const fs = await reach('fs');
let spec = '';
try {
  spec = fs.readFileSync(
    `${COURSE.cwd}/lessons/14-backend-for-frontend/backend-for-frontend.spec.ts`,
    'utf8',
  );
} catch {}
const rows = [...spec.matchAll(/'(\d+ \d+ \d+ \d+ \d+)'/g)].map(([, row]) =>
  row.split(' ').map(Number),
);
let turn = 0;
export function viewCost() {
  if (rows.length === 0) throw new Error('there is no spec');
  turn += 1;
  const [requests, bytes, leaves, unusedLeaves, internalRequests] = rows[turn % rows.length];
  return { requests, bytes, leaves, unusedLeaves, internalRequests };
}
