import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { LessonFolder } from './course.ts';

/**
 * Compares what a student is promised with what the reference keeps: the same exports, the same
 * docstrings, and types under which the spec, which is compiled against the stub, holds for the
 * reference too.
 *
 * @param root folder of the course
 * @returns one sentence for each difference
 */
export function contractProblems(root: string, lessons: readonly LessonFolder[]): string[] {
  const problems = lessons.flatMap(({ folder }) => {
    const read = (name: string) =>
      declarations(readFileSync(join(root, 'lessons', folder, name), 'utf8'));
    const stub = read('exercise.ts');
    const solution = read('solution.ts');
    const found: string[] = [];
    for (const [name, doc] of stub) {
      if (!solution.has(name)) {
        found.push(`lessons/${folder}/solution.ts lacks ${name}, which exercise.ts declares`);
      } else if (solution.get(name) !== doc) {
        found.push(
          `lessons/${folder}: the docstrings of ${name} differ in exercise.ts and solution.ts`,
        );
      }
    }
    for (const name of solution.keys()) {
      if (!name.includes('.') && !stub.has(name)) {
        found.push(`lessons/${folder}/solution.ts exports ${name}, which exercise.ts does not`);
      }
    }
    return found;
  });
  return [...problems, ...typeProblems(root, lessons)];
}

/**
 * The exports of a source file and the public methods of its exported classes
 * (`HealthTracker.record`), each with its docstring, white space folded.
 */
export function declarations(source: string): Map<string, string> {
  const found = new Map<string, string>();
  let exportedClass: string | undefined;
  let doc = '';
  const pattern =
    /(?<doc>\/\*\*(?:(?!\*\/)[\s\S])*\*\/)|^export (?:async )?(?<kind>function|class|const|interface|type) (?<name>\w+)|^ {2}(?:get |async )?(?<member>[a-z]\w*)[(<]|^(?<end>\})/gm;
  for (const { groups = {} } of source.replaceAll('\r\n', '\n').matchAll(pattern)) {
    if (groups.doc) {
      doc = groups.doc.replace(/\s+(?:\*(?!\/)\s*)?/g, ' ');
      continue;
    }
    if (groups.name) {
      found.set(groups.name, doc);
      exportedClass = groups.kind === 'class' ? groups.name : undefined;
    } else if (groups.end) exportedClass = undefined;
    else if (groups.member && exportedClass) found.set(`${exportedClass}.${groups.member}`, doc);
    doc = '';
  }
  return found;
}

/** Has the compiler assign every solution to the type of its stub. */
function typeProblems(root: string, lessons: readonly LessonFolder[]): string[] {
  const folder = join(root, 'reports', 'contract');
  mkdirSync(folder, { recursive: true });
  for (const { number, folder: lesson } of lessons) {
    const from = `../../lessons/${lesson}`;
    writeFileSync(
      join(folder, `${number}.ts`),
      `import * as solution from '${from}/solution.ts';\n` +
        `export const contract: typeof import('${from}/exercise.ts') = solution;\n`,
    );
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.json', include: ['*.ts'], exclude: [] }),
  );
  const packageFile = createRequire(import.meta.url).resolve('typescript/package.json');
  const compiler = join(dirname(packageFile), 'bin', 'tsc');
  try {
    execFileSync(process.execPath, [compiler, '--project', folder], { encoding: 'utf8' });
    return [];
  } catch (error) {
    return String((error as { stdout?: string }).stdout ?? error)
      .split('\n')
      .filter((line) => /error/.test(line));
  }
}
