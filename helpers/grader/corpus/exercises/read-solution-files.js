// Tries: to read the reference with Node's file functions: beside itself, where the linked
//   node_modules really is, through /proc, and in any copy in the folder for temporary files.
// Must: give no point for it.

const fs = await reach('fs');
const path = 'lessons/14-backend-for-frontend/solution.ts';
const places = [COURSE.cwd, COURSE.root, `/proc/${process.ppid}/cwd`, '/proc/self/cwd'];
for (const up of ['..', '../..', '../../..']) places.push(`${COURSE.cwd}/${up}`);
try {
  places.push(fs.realpathSync(`${COURSE.cwd}/node_modules`).replace(/.node_modules$/, ''));
} catch {}
try {
  for (const name of fs.readdirSync(COURSE.temporary)) places.push(`${COURSE.temporary}/${name}`);
} catch {}
let text = '';
for (const place of places) {
  for (const file of [`${place}/${path}`, `${place}/course/${path}`]) {
    try {
      text ||= fs.readFileSync(file, 'utf8');
    } catch {}
  }
}
export const viewCost = () => aPointIf(text !== '');
