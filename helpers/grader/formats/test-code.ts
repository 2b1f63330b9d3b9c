import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAst } from 'vite';
import { COURSE_ROOT } from '../../grading/course.ts';
import type { LessonGrade } from '../../grading/grade.ts';
import type { TestCode } from './exercism.ts';

/** A node of the syntax tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** A test in a spec: what its full name looks like, and its body. */
interface SpecTest {
  readonly name: RegExp;
  /** Characters of the name that are fixed. */
  readonly fixed: number;
  readonly code: string;
}

/** Stands for the part of a name that is made at run time. */
const MADE = '(?:.*)';

/**
 * The source of the graded tests of some lessons, taken from their specs. A test whose name is made
 * at run time is found by the parts of its name that are fixed. One that two places of a spec may
 * have made has no code here.
 *
 * @param lessons as they are in a grade
 * @param root folder of the course
 */
export function readTestCode(lessons: readonly LessonGrade[], root = COURSE_ROOT): TestCode {
  const found = new Map<string, string>();
  for (const { folder, exercises } of lessons) {
    const path = join(root, 'lessons', folder);
    const specs = readdirSync(path)
      .filter((file) => file.endsWith('.spec.ts'))
      .flatMap((file) => testsIn(readFileSync(join(path, file), 'utf8')));
    for (const { name } of exercises.flatMap(({ tests }) => tests)) {
      const fits = specs.filter((test) => test.name.test(name)).sort((a, b) => b.fixed - a.fixed);
      const [best, next] = fits;
      if (best && best.fixed !== next?.fixed) found.set(name, best.code);
    }
  }
  return found;
}

/** The tests of a spec, in its order. */
export function testsIn(source: string): readonly SpecTest[] {
  const tests: SpecTest[] = [];
  visit(parseAst(source, { lang: 'ts' }) as unknown as Node, []);
  return tests;

  function visit(node: Node, path: readonly string[]): void {
    const call = asTestCall(node);
    if (call?.what === 'it') {
      const name = [...path, call.title].join(' > ');
      tests.push({
        name: new RegExp(`^${name}$`, 's'),
        fixed: name.replaceAll(MADE, '').length,
        code: bodyOf(call.body, source),
      });
      return;
    }
    const inside = call ? [...path, call.title] : path;
    for (const child of childrenOf(node)) visit(child, inside);
  }
}

/** `it(title, body)`, `describe(title, options, body)`, and with `.for(table)` or `.each(table)` before. */
function asTestCall(
  node: Node,
): { what: 'it' | 'describe'; title: string; body: Node } | undefined {
  if (node.type !== 'CallExpression') return;
  const names = { it: 'it', test: 'it', describe: 'describe' } as const;
  let callee = node.callee as Node;
  if (callee.type === 'CallExpression') callee = callee.callee as Node;
  while (callee.type === 'MemberExpression') callee = callee.object as Node;
  const what = names[callee.name as keyof typeof names];
  const [title, ...others] = node.arguments as Node[];
  const body = others.find(({ type }) => /^(ArrowFunction|Function)Expression$/.test(type));
  return what && body && title ? { what, title: patternOf(title), body } : undefined;
}

/** A pattern for the names that a title can make. */
function patternOf({ type, value, quasis }: Node): string {
  if (type === 'Literal' && typeof value === 'string') return printed(value);
  if (type !== 'TemplateLiteral') return MADE;
  const parts = quasis as { value: { cooked: string } }[];
  return parts.map((part) => printed(part.value.cooked)).join(MADE);
}

/** Vitest fills in `$field` and `%s`. */
function printed(text: string): string {
  return text
    .split(/\$[\w.#]+|%[sdifjo#]/)
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&').replaceAll('%%', '%'))
    .join(MADE);
}

/** What stands in a function, as far to the left as it goes. */
function bodyOf(fn: Node, source: string): string {
  const body = fn.body as Node;
  const isBlock = body.type === 'BlockStatement';
  const text = isBlock
    ? source.slice(body.start + 1, body.end - 1)
    : source.slice(body.start, body.end);
  const lines = text.replaceAll('\r', '').split('\n');
  const deep = lines.slice(isBlock ? 0 : 1).filter((line) => line.trim() !== '');
  const indent = Math.min(...deep.map((line) => line.length - line.trimStart().length));
  return lines
    .map((line) => (/^\s/.test(line) ? line.slice(Math.min(indent, line.length)) : line))
    .join('\n')
    .trim();
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isNode);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
