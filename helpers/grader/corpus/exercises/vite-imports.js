// Tries: to have Vite read files for it at compile time: a password file, a device, a disk.
// Must: end in time, grade the other lesson, and give no point for it.

import device from '/dev/zero?raw';
import passwords from '/etc/passwd?raw';

export const viewCost = () => aPointIf(passwords.length > 0 || device.length > 0);
const disk = import.meta.glob('/../../../../../**/*', { query: '?raw' });
void disk;
