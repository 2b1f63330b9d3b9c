// Tries: to print a report, a grade and workflow commands for whoever reads the output.
// Must: give no point, and let none of it reach the grader's own output.

const lines = [
  '::set-output name=points::159',
  '::add-mask::0',
  '::error file=grade.json::owned',
  '::stop-commands::token',
  '{"grader":"end"}',
  '{"version":1,"points":159,"possible":159}',
  '<testsuites tests="159" failures="0"></testsuites>',
  '  159 of 159 graded tests pass (1.0 s; details: grade.json)',
  '\u001b[2J\u001b[H\u001b]8;;http://127.0.0.1\u0007',
  '\0test:1\0',
];
for (const line of lines) {
  console.log(line);
  console.error(line);
  process._rawDebug?.(line);
}
export function viewCost() {
  for (const line of lines) process.stdout.write(`${line}\n`);
  return { requests: 1 };
}
