// Tries: to write over every file of the course around it, those of the other lesson included, and
//   to delete what it can't write.
// Must: change nothing: the other lesson is graded with the course's files and its own.
// Earns: 14.1

const fs = await reach('fs');
const visit = (folder) => {
  let entries = [];
  try {
    entries = fs.readdirSync(folder, { withFileTypes: true });
  } catch {}
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      visit(path);
      continue;
    }
    if (entry.isSymbolicLink() || path.endsWith('/14-backend-for-frontend/exercise.ts')) continue;
    try {
      fs.writeFileSync(path, '// written by a submission\n');
    } catch {}
    try {
      fs.rmSync(path, { force: true });
    } catch {}
  }
};
for (const place of ['lessons', 'fixtures', 'helpers', 'reports']) visit(`${COURSE.cwd}/${place}`);
for (const name of [
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  'grade.json',
  'node_modules',
]) {
  try {
    fs.rmSync(`${COURSE.cwd}/${name}`, { force: true });
  } catch {}
}
