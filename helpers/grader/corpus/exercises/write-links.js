// Tries: to put links in the places where the grader writes or reads later: report, grade, spec,
//   ledger and snapshots.
// Must: follow none of them.
// Earns: 14.1

const fs = await reach('fs');
const link = (target, path) => {
  try {
    fs.rmSync(path, { force: true, recursive: true });
  } catch {}
  try {
    fs.symlinkSync(target, path);
  } catch {}
  try {
    fs.linkSync(target, path);
  } catch {}
};
for (const name of ['grade.json', 'reports', 'reports/junit.xml', 'fixtures/published/11.json']) {
  link(`${COURSE.evidence}/linked-to`, `${COURSE.cwd}/${name}`);
}
link(
  `${COURSE.root}/lessons/11-api-gateway/solution.ts`,
  `${COURSE.cwd}/lessons/11-api-gateway/exercise.ts`,
);
link(COURSE.evidence, `${COURSE.cwd}/lessons/14-backend-for-frontend/__snapshots__`);
link('/dev/zero', `${COURSE.cwd}/lessons/11-api-gateway/README.md`);
