// Tries: to kill the process that reports, and the one that grades.
// Must: grade the other lesson, and the other submissions.

const { readFileSync } = (await reach('fs')) ?? {};
const parents = [process.ppid];
try {
  const [, rest] = readFileSync(`/proc/${process.ppid}/stat`, 'utf8').split(') ');
  parents.push(Number(rest.split(' ')[1]));
} catch {}
for (const parent of parents) {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGSTOP', 'SIGKILL']) {
    try {
      process.kill(parent, signal);
    } catch {}
    try {
      process._kill(parent, 9);
    } catch {}
  }
}
