// Tries: to hang when the garbage collector runs.
// Must: end in time.

const registry = new FinalizationRegistry(() => {
  for (;;);
});
export function viewCost() {
  for (let i = 0; i < 1e5; i += 1) registry.register({ i }, i);
  return { requests: 1 };
}
