// `npm run grade:scale`: what a class costs. Grades generated submissions, and says what one more of
// them takes, in time and in memory.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';
import { COURSE_ROOT, lessonFolders } from '../grading/course.ts';
import { gradeSubmissions } from './main.ts';
import { memoryOfTree } from './memory.ts';
import { type MeasuredClass, minutesFor } from './scale-model.ts';
import type { SubmissionGrade } from './types.ts';

/** What a generated student has done. */
type Kind = 'perfect' | 'half' | 'broken' | 'hanging';

const KINDS: readonly Kind[] = ['perfect', 'half', 'broken', 'hanging'];

/** In a class of ten: three are done, five are half done, one doesn't compile, one hangs. */
const CLASS: readonly Kind[] = [
  ...['perfect', 'half', 'half', 'perfect', 'broken'],
  ...['half', 'half', 'hanging', 'perfect', 'half'],
] as Kind[];

/** Milliseconds between two looks at the memory. */
const LOOK_MS = 250;

/** Writes one submission. Whoever hangs or is broken does so in the first lesson of the list. */
function generate(folder: string, kind: Kind, lessons: readonly string[]): void {
  for (const [index, lesson] of lessons.entries()) {
    const from = join(COURSE_ROOT, 'lessons', lesson);
    const to = join(folder, 'lessons', lesson);
    mkdirSync(to, { recursive: true });
    const isOdd = index % 2 === 1;
    const isFirst = index === 0;
    if (kind === 'half' && isOdd) {
      cpSync(join(from, 'exercise.ts'), join(to, 'exercise.ts'));
      continue;
    }
    const solution = readFileSync(join(from, 'solution.ts'), 'utf8');
    const answer =
      kind === 'hanging' && isFirst
        ? withLoop(solution)
        : kind === 'broken' && isFirst
          ? `${solution}\n}`
          : solution;
    writeFileSync(join(to, 'exercise.ts'), answer);
  }
}

/** An endless loop at the start of the first function that a lesson asks for. */
function withLoop(solution: string): string {
  const signature = /^export (?:async )?function [\s\S]*?\n?\)?[^\n]*\{\n/m.exec(solution);
  if (!signature) throw new Error('this solution has no function to hang in');
  const at = signature.index + signature[0].length;
  return `${solution.slice(0, at)}  for (;;) {}\n${solution.slice(at)}`;
}

/** One finished submission. */
interface Finish {
  readonly kind: Kind;
  /** Seconds from the start of the run. */
  readonly at: number;
  /** Seconds that it took by itself. */
  readonly seconds: number;
}

/** Slope of a line through the points, by least squares. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
  const [mx, my] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const covariance = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  return covariance / points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
}

/** What is wrong with the grades of a class, if anything is: each kind has its points, always the same. */
function faults(grades: ReadonlyMap<Kind, readonly SubmissionGrade[]>): string[] {
  return KINDS.flatMap((kind) => {
    const points = new Set(
      grades.get(kind)?.map((grade) => `${grade.points} of ${grade.possible}`),
    );
    return points.size > 1 ? [`${kind}: ${[...points].join(', ')}, wanted the same for all`] : [];
  });
}

/** Runs the command. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      count: { type: 'string', default: '200' },
      lessons: { type: 'string', default: '11,13,14' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      out: { type: 'string', default: 'reports' },
    },
  });
  const [count, jobs] = [Number(values.count), Number(values.jobs)];
  const asked = values.lessons.split(',');
  const folders = lessonFolders()
    .filter(({ number }) => asked.includes(number))
    .map(({ folder }) => folder);
  if (!(count >= 10) || folders.length !== asked.length) {
    console.error('wanted --count 10 or more, and --lessons that exist, such as 11,13,14');
    return 2;
  }

  const root = mkdtempSync(join(tmpdir(), 'traffic-layer-class-'));
  let peakMb = 0;
  const watch = setInterval(() => {
    peakMb = Math.max(peakMb, memoryOfTree(process.pid) ?? 0);
  }, LOOK_MS);
  try {
    const kindOf = new Map<string, Kind>();
    const submissions = Array.from({ length: count }, (_, index) => {
      const kind = CLASS[index % CLASS.length] as Kind;
      const name = `student-${String(index + 1).padStart(4, '0')}`;
      kindOf.set(name, kind);
      generate(join(root, 'class', name), kind, folders);
      return join(root, 'class', name);
    });

    const finishes: Finish[] = [];
    const start = performance.now();
    const grades = await gradeSubmissions({
      submissions,
      lessons: asked,
      out: join(root, 'grades'),
      jobs,
      onProgress: ({ submission, seconds }) => {
        const at = (performance.now() - start) / 1_000;
        finishes.push({ kind: kindOf.get(submission) as Kind, at, seconds });
        if (finishes.length % 20 === 0)
          console.log(`  ${finishes.length} of ${count}, ${at.toFixed(0)} s`);
      },
    });
    return await report({ grades, finishes, kindOf, count, jobs, peakMb, asked, out: values.out });
  } finally {
    clearInterval(watch);
    rmSync(root, { recursive: true, force: true });
  }
}

async function report(run: {
  grades: readonly SubmissionGrade[];
  finishes: readonly Finish[];
  kindOf: ReadonlyMap<string, Kind>;
  count: number;
  jobs: number;
  peakMb: number;
  asked: readonly string[];
  out: string;
}): Promise<number> {
  const { finishes, count, jobs, peakMb, asked, out } = run;
  const byKind = new Map(
    KINDS.map((kind) => [
      kind,
      run.grades.filter(({ submission }) => run.kindOf.get(submission) === kind),
    ]),
  );
  const points = finishes.map(({ at }, index) => [index + 1, at] as const);
  const half = Math.floor(points.length / 2);
  const perSubmission = slope(points);
  const growth = slope(points.slice(half)) / slope(points.slice(0, half));
  const coreSeconds = perSubmission * jobs;
  const minutes = (cores: number) => minutesFor({ coreSeconds }, 1_000, cores).toFixed(0);

  const facts = [
    `${count} submissions, lessons ${asked.join(', ')}, ${jobs} at a time: ` +
      `${(points.at(-1)?.[1] ?? 0).toFixed(0)} s`,
    `One more submission takes ${coreSeconds.toFixed(1)} s of a core: ` +
      `${(60 / coreSeconds).toFixed(1)} a minute and core`,
    `The second half of the class takes ${growth.toFixed(2)} times the first`,
    peakMb > 0
      ? `All processes together take ${peakMb.toFixed(0)} MB at most, ${(peakMb / jobs).toFixed(0)} a job`
      : 'This system does not say what the processes take in memory',
    `A class of 1,000 takes ${minutes(1)} minutes on one core, ${minutes(8)} on eight`,
  ];
  for (const kind of KINDS) {
    const mine = finishes.filter((finish) => finish.kind === kind);
    const [grade] = byKind.get(kind) ?? [];
    if (!grade) continue;
    const mean = mine.reduce((sum, { seconds }) => sum + seconds, 0) / mine.length;
    facts.push(`${kind}: ${grade.points} of ${grade.possible} points, ${mean.toFixed(1)} s`);
  }
  for (const fact of facts) console.log(`  ${fact}.`);

  mkdirSync(out, { recursive: true });
  const file = join(out, 'grade-scale');
  const measured: MeasuredClass = { facts, lessons: asked, jobs, finished: points, coreSeconds };
  writeFileSync(`${file}.json`, `${JSON.stringify(measured, null, 2)}\n`);
  process.env.SCALE_FILE = `${file}.json`;
  // Loaded now: what loads this file is closed by the time when ECharts would be asked for.
  const { module } = await runnerImport<{ svg: string }>(
    fileURLToPath(new URL('scale-figure.ts', import.meta.url)),
    { root: COURSE_ROOT, logLevel: 'error', oxc: { target: 'es2022' } },
  );
  writeFileSync(`${file}.svg`, module.svg);
  console.log(`\n  ${file}.svg`);
  const wrong = faults(byKind);
  for (const fault of wrong) console.error(`  ${fault}`);
  return wrong.length > 0 || run.grades.length !== count ? 1 : 0;
}
