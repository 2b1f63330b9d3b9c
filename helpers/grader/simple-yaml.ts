/** What a YAML file says. */
export type Yaml = string | number | boolean | null | Yaml[] | { [key: string]: Yaml };

/**
 * Reads the part of YAML that the course's workflows are written in: mappings and lists by indent,
 * lists of scalars in brackets, quoted and plain scalars on one line, blocks after `|`, comments.
 *
 * @throws {SyntaxError} on what it doesn't know, so that nothing is read wrongly
 */
export function readYaml(text: string): Yaml {
  const lines = text.split(/\r?\n/).map((line, number) => ({
    number: number + 1,
    indent: line.length - line.trimStart().length,
    text: line,
  }));
  let at = 0;
  const value = readNode(0);
  skip();
  if (at < lines.length) refuse('this is not part of what came before');
  return value;

  /** Moves on to the next line that says something. */
  function skip(): void {
    while (at < lines.length && /^\s*(#.*)?$/.test(lines[at]?.text ?? '')) at += 1;
  }

  function refuse(why: string): never {
    const line = lines[at] ?? lines.at(-1);
    throw new SyntaxError(`line ${line?.number}: ${why}: ${line?.text.trim()}`);
  }

  function readNode(least: number): Yaml {
    skip();
    const line = lines[at];
    if (!line || line.indent < least) return null;
    return isItem(line.text) ? readList(line.indent) : readMapping(line.indent);
  }

  function readList(indent: number): Yaml[] {
    const items: Yaml[] = [];
    for (skip(); lines[at]?.indent === indent && isItem(lines[at]?.text ?? ''); skip()) {
      const line = lines[at] as (typeof lines)[number];
      const rest = line.text.trimStart().slice(2);
      if (/^[\w-]+:(\s|$)/.test(rest)) {
        // The first key of a mapping stands behind the dash.
        lines[at] = { ...line, indent: indent + 2, text: `${' '.repeat(indent + 2)}${rest}` };
        items.push(readMapping(indent + 2));
      } else {
        at += 1;
        items.push(scalar(rest));
      }
    }
    return items;
  }

  function readMapping(indent: number): { [key: string]: Yaml } {
    const mapping: { [key: string]: Yaml } = {};
    for (skip(); lines[at]?.indent === indent; skip()) {
      const found = /^\s*([\w-]+):(?:\s+(.*))?$/.exec(lines[at]?.text ?? '');
      if (!found) refuse('wanted "key: value"');
      const [, key = '', rest = ''] = found;
      if (key in mapping) refuse('this key is there twice');
      at += 1;
      if (rest === '|') mapping[key] = readBlock(indent);
      else if (rest === '' || rest.startsWith('#')) mapping[key] = readNode(indent + 1);
      else mapping[key] = scalar(rest);
    }
    return mapping;
  }

  function readBlock(outer: number): string {
    const first = lines[at];
    const indent = first?.indent ?? 0;
    if (!first || indent <= outer) refuse('wanted a block that is further to the right');
    const block: string[] = [];
    for (let line = lines[at]; line; line = lines[at]) {
      if (line.text.trim() !== '' && line.indent < indent) break;
      block.push(line.text.slice(indent));
      at += 1;
    }
    return `${block.join('\n').trimEnd()}\n`;
  }

  function scalar(source: string): Yaml {
    const text = source.trim();
    const quoted = /^'((?:[^']|'')*)'(?:\s+#.*)?$/.exec(text);
    if (quoted) return (quoted[1] ?? '').replaceAll("''", "'");
    const list = /^\[([^[\]{}'"]*)\](?:\s+#.*)?$/.exec(text);
    if (list) return (list[1] ?? '').split(',').map((item) => scalar(item));
    const plain = text.replace(/\s+#.*$/, '');
    if (/^[[{&*!|>'"%@`]/.test(plain) && !plain.startsWith('${{')) {
      at -= 1;
      refuse('this kind of value is not known');
    }
    if (plain === 'true' || plain === 'false') return plain === 'true';
    if (/^-?\d+(\.\d+)?$/.test(plain)) return Number(plain);
    return plain;
  }
}

function isItem(text: string): boolean {
  return /^\s*- /.test(text);
}
