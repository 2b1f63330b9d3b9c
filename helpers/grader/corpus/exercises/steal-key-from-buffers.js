// Tries: to find the key that signs results where Node keeps what it makes of texts: in the pool that
//   small buffers share, and in memory that was freed and is handed out again.
// Must: have no key there.

const seen = new Set();
const look = (buffer) => {
  const bytes = Buffer.from(buffer);
  for (const text of [bytes.toString('latin1'), bytes.toString('utf16le')]) {
    for (const [key] of text.matchAll(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g)) seen.add(key);
  }
};
let looked = false;
export function viewCost() {
  for (let i = 0; i < 10 && !looked; i += 1) {
    look(Buffer.from(`text ${i}`).buffer);
    look(Buffer.allocUnsafe(64).buffer);
    for (const size of [4_096, 65_536, 500_000]) look(Buffer.allocUnsafeSlow(size).buffer);
  }
  looked = true;
  return aPointIf(seen.size > 0);
}
