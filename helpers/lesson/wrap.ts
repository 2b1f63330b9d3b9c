/**
 * Cuts a line of text between words into lines of at most `width` characters. A word that is longer
 * than that keeps a line to itself.
 */
export function wrap(line: string, width: number): string[] {
  const lines = [''];
  for (const word of line.split(/(?<=\s)(?=\S)/)) {
    const current = lines.at(-1) ?? '';
    if (current && (current + word).trimEnd().length > width) lines.push(word);
    else lines[lines.length - 1] = current + word;
  }
  return lines.map((text) => text.trimEnd());
}
