const STYLES = { ok: 'green', warning: 'yellow', problem: 'red' };

/**
 * The findings as lines of a table, each with its fix below it, and a summary.
 *
 * @param paint colours a text, or doesn't
 * @param isBrief leaves out what is in order
 */
export function printable(findings, { isBrief = false, paint = (_, text) => text } = {}) {
  const shown = isBrief ? findings.filter(({ state }) => state !== 'ok') : findings;
  const width = Math.max(0, ...findings.map(({ name }) => name.length));
  const lines = shown.flatMap(({ name, state, found, fix }) => [
    `  ${paint(STYLES[state], state.padEnd(7))}  ${name.padEnd(width)}  ${found}`,
    ...(fix ? [`  ${' '.repeat(7 + 2 + width)}  ${fix}`] : []),
  ]);
  if (isBrief) return lines;
  const count = (state) => findings.filter((finding) => finding.state === state).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  const summary =
    problems + warnings === 0
      ? 'Everything is in order.'
      : `${problems} ${problems === 1 ? 'problem' : 'problems'}, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}.`;
  return [...lines, '', `  ${summary}`];
}
