// Tries: to read secrets that are in the grader's environment.
// Must: have an environment that holds none.
// Earns: 14.1

const secrets = { ...process.env };
export function viewCost() {
  return aPointIf(Object.values(secrets).includes(COURSE.secret));
}
