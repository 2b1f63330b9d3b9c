// Tries: to import the reference with a name that is put together, over every path that could lead
//   to it: beside the file, in the original course, with queries that Vite knows.
// Must: give no point for it.

const folder = 'lessons/14-backend-for-frontend';
const name = ['solu', 'tion.ts'].join('');
let found;
for (const base of [
  '.',
  `../../${folder}`,
  `${COURSE.root}/${folder}`,
  `/@fs${COURSE.root}/${folder}`,
]) {
  for (const query of ['', '?x', '?raw', '?inline', '?url']) {
    try {
      const module = await import(/* @vite-ignore */ `${base}/${name}${query}`);
      if (module.viewCost || /function viewCost|base64,/.test(module.default)) found = true;
    } catch {}
  }
}
export const viewCost = () => aPointIf(found);
