// Tries: to write 100 MB of zeros straight into the descriptors 1 and 2 while the file is loaded.
// Must: end in time.

const fs = await reach('fs');
const chunk = Buffer.alloc(1e6);
for (let i = 0; i < 100; i += 1) {
  try {
    fs.writeSync(1 + (i % 2), chunk);
  } catch {}
  process.stderr.write(chunk);
}
