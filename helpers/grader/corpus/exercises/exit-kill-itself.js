// Tries: to kill its own process in the first test of 14.2, which no handler can see.
// Must: keep what was proved before, and count nothing after it.
// Earns: 14.1

export function viewCost() {
  process.kill(process.pid, 'SIGKILL');
  for (;;);
}
