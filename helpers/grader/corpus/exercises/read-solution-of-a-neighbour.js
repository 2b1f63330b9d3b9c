// Tries: to copy from another submission of the same batch: from its sandbox, or from where the
//   submissions are.
// Must: give no point for it.

const fs = await reach('fs');
const path = 'lessons/14-backend-for-frontend/exercise.ts';
let text = '';
const look = (folder, depth) => {
  try {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue;
      const inner = `${folder}/${entry.name}`;
      try {
        const found = fs.readFileSync(`${inner}/${path}`, 'utf8');
        if (found.includes('function refuseTwice')) text ||= found;
      } catch {}
      if (depth > 0) look(inner, depth - 1);
    }
  } catch {}
};
look(COURSE.temporary, 2);
look(`${COURSE.cwd}/../..`, 2);
look(COURSE.submissions, 0);
export function viewCost() {
  return aPointIf(text !== '');
}
