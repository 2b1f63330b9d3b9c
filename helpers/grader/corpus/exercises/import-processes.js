// Tries: to import what starts processes, in the middle of a test.
// Must: refuse it, and say what was imported.

export async function viewCost() {
  const { execSync } = await import('node:child_process');
  execSync(`echo was-here > ${COURSE.evidence}/executed`);
}
