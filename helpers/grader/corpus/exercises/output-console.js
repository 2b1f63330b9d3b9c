// Tries: to print 100 MB with console.log.
// Must: end it by its limit, and keep what was proved before.
// Earns: 14.1

export function viewCost() {
  const line = 'x'.repeat(1e4);
  for (let i = 0; i < 1e4; i += 1) console.log(line);
  return { requests: 1 };
}
