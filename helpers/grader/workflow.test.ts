import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { COURSE_ROOT } from '../grading/course.ts';
import { makeTestBed, tinyExercise, tinyLesson, tinyStub } from '../grading/test-bed.ts';
import type { SubmissionGrade } from './types.ts';

interface Step {
  readonly name: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly 'working-directory'?: string;
}

interface Job {
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: { readonly shard: readonly number[] } };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const FILES = { grade: '.github/workflows/grade.yml', classroom: 'docs/classroom-workflow.yml' };
const sourceOf = (file: string) => readFileSync(join(COURSE_ROOT, file), 'utf8');
const workflowOf = (file: string) => parse(sourceOf(file)) as Workflow;

describe.each(Object.values(FILES))('%s', (file) => {
  const source = sourceOf(file);
  const { permissions, jobs } = workflowOf(file);
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  it('pins every action to a commit, and says which version that is', () => {
    const uses = source.split('\n').filter((line) => /^\s*(- )?uses:/.test(line));
    expect(uses).toHaveLength(steps.filter((step) => step.uses).length);
    for (const line of uses) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d[\d.]*$/);
  });

  it('may only read, where a submission runs', () => {
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) {
      if (job.steps.some(({ run }) => run?.includes('npm')))
        expect(job.permissions).toBeUndefined();
    }
    for (const step of steps.filter((step) => step.uses?.startsWith('actions/checkout@'))) {
      expect(step.with).toMatchObject({ 'persist-credentials': false });
    }
  });

  it('has no secret, no cache, and no input that becomes part of a script', () => {
    expect(source).not.toMatch(/secrets\.|github\.token|actions\/cache/);
    for (const step of steps) {
      expect(step.run ?? '').not.toContain('${{');
      if (step.uses?.startsWith('actions/setup-node@')) {
        expect(step.with).toMatchObject({ 'package-manager-cache': false });
      }
    }
  });

  it('lets nothing that the grader prints be a command', () => {
    for (const { run } of steps.filter((step) => step.run?.includes('run --silent grade'))) {
      expect(run).toMatch(
        /token=\$\(node -p 'crypto\.randomUUID\(\)'\)[\s\S]*echo "::stop-commands::\$token"\n\s*npm run --silent grade [^\n]* \|\| status=\$\?\n\s*echo "::\$token::"/,
      );
    }
  });
});

it('the reporter of GitHub Classroom finds the job that it looks for, and may write to it', () => {
  const { jobs } = workflowOf(FILES.classroom);
  const job = jobs['run-autograding-tests'];
  expect(job?.needs).toBe('grade');
  expect(job?.permissions).toEqual({ actions: 'read', checks: 'write', contents: 'read' });
});

// The steps are written for the bash of a Linux runner.
describe.skipIf(process.platform === 'win32')('the steps, run here', () => {
  const tiny = tinyLesson('01', 'Tiny', tinyStub('01'));
  const ajv = new Ajv2020({ strictTypes: false });
  const schemas = Object.fromEntries(
    ['gradescope', 'classroom', 'exercism', 'prairielearn'].map((format) => [
      format,
      ajv.compile(JSON.parse(sourceOf(`helpers/grader/formats/${format}.schema.json`))),
    ]),
  );
  const answers: Record<string, string> = {
    anna: tinyExercise('return n / 2;'),
    ben: tinyStub('01'),
    'chloé d': tinyExercise('return n;'),
    dan: 'this is no TypeScript',
    eve: tinyExercise('return n / 2;', "console.log('::error::eve');"),
    fay: tinyExercise(
      "return todo('01.2 halve') as never;",
      "import { todo } from '#helpers/lesson/todo.ts';",
    ),
    gil: tinyExercise('return n === 4 ? 2 : 0;'),
    hal: tinyExercise('return n / 2;'),
  };

  it('four shards, merged, are the grades of one run', async () => {
    using bed = makeTestBed(tiny);
    using place = layOut(bed.root);
    const { jobs } = workflowOf(FILES.grade);
    const { grade, merge } = jobs;
    const shards = grade?.strategy?.matrix.shard ?? [];
    expect(merge?.needs).toBe('grade');

    for (const shard of shards) {
      const output = await place.runStep(grade, 'Grade', {
        'inputs.submissions': 'submissions',
        'inputs.lessons': '1',
        'inputs.formats': 'gradescope,classroom,exercism,prairielearn',
        'matrix.shard': `${shard}`,
        'strategy.job-total': `${shards.length}`,
      });
      expect(commandsIn(output)).toEqual([]);
      place.keep(`shard-${shard}`);
    }
    for (const shard of shards) place.bring(`shard-${shard}`);
    await place.runStep(merge, 'Merge', {});
    const sharded = place.read();
    for (const [name, schema] of Object.entries(schemas)) {
      for (const result of place.results(name)) {
        schema(result);
        expect(schema.errors ?? [], name).toEqual([]);
      }
    }

    place.forget();
    await place.runStep(grade, 'Grade', {
      'inputs.submissions': 'submissions',
      'inputs.lessons': '',
      'inputs.formats': '',
      'matrix.shard': '1',
      'strategy.job-total': '1',
    });
    const whole = place.read();

    expect([...sharded.grades.keys()]).toEqual(Object.keys(answers));
    expect(sharded.grades).toEqual(whole.grades);
    expect(sharded.table).toEqual(whole.table);
    const points = Object.fromEntries(
      [...whole.grades].map(([name, { points }]) => [name, points]),
    );
    expect(points).toEqual({
      anna: 3,
      ben: 0,
      'chloé d': 1,
      dan: 0,
      eve: 3,
      fay: 1,
      gil: 2,
      hal: 3,
    });
  }, 240_000);

  it('what GitHub Classroom gets is the points of the student', async () => {
    using bed = makeTestBed(tiny);
    using place = layOut(bed.root);
    cpSync(join(place.root, 'class/submissions/gil'), join(place.root, 'submission'), {
      recursive: true,
    });
    const { jobs } = workflowOf(FILES.classroom);

    await place.runStep(jobs.grade, 'Grade', {});
    const environment = join(place.root, 'github-env');
    await place.runStep(
      jobs['run-autograding-tests'],
      'Hand over the result',
      {},
      {
        GITHUB_ENV: environment,
      },
    );

    const variables = new Map(
      readFileSync(environment, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/=(.*)/s) as [string, string]),
    );
    expect(variables.get('CLASSROOM_RUNNERS')).toBe('lesson01');
    const result = JSON.parse(
      Buffer.from(variables.get('LESSON01_RESULTS') ?? '', 'base64').toString('utf8'),
    ) as { max_score: number; tests: { score: number }[] };
    expect(schemas.classroom?.(result)).toBe(true);
    expect(result.max_score).toBe(3);
    expect(result.tests.map(({ score }) => score)).toEqual([1, 1, 0]);
  }, 120_000);

  /** The folders of a runner: the class, the course, and the results. */
  function layOut(course: string) {
    const root = mkdtempSync(join(realpathSync(tmpdir()), 'traffic-layer-runner-'));
    for (const [name, text] of Object.entries(answers)) {
      const file = join(root, 'class/submissions', name, 'lessons/01-tiny/exercise.ts');
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    writeFileSync(join(root, 'class/submissions/README.md'), 'Not a submission.\n');
    const grades = join(root, 'grades');
    return {
      root,
      async runStep(
        job: Job | undefined,
        name: string,
        context: Record<string, string>,
        more: Record<string, string> = {},
      ): Promise<string> {
        const step = job?.steps.find((candidate) => candidate.name === name);
        if (!step?.run) throw new Error(`There is no step "${name}" that runs something`);
        const env = Object.entries(step.env ?? {}).map(([key, value]) => [
          key,
          fillIn(value, context),
        ]);
        const folder = step['working-directory'] === 'course' ? course : root;
        // The course stands beside the class.
        const script = step.run.replaceAll('../', `${root}/`);
        const { npm_lifecycle_event: _, INIT_CWD: __, VITEST: ___, ...outside } = process.env;
        const { stdout, stderr } = await promisify(execFile)(
          'bash',
          ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script],
          { cwd: folder, env: { ...outside, ...Object.fromEntries(env), ...more, NO_COLOR: '1' } },
        );
        return stdout + stderr;
      },
      keep: (name: string) => {
        cpSync(grades, join(root, name), { recursive: true });
        rmSync(grades, { recursive: true });
      },
      bring: (name: string) => cpSync(join(root, name), grades, { recursive: true }),
      /** What every student has in a format. */
      results: (format: string) =>
        Object.keys(answers).flatMap((name): unknown[] => {
          const file = format === 'exercism' ? 'exercism-01' : format;
          const text = readFileSync(join(grades, name, `${file}.json`), 'utf8');
          const result = JSON.parse(text) as object;
          return format === 'classroom' ? Object.values(result) : [result];
        }),
      forget: () => rmSync(grades, { recursive: true }),
      read: () => ({
        table: readFileSync(join(grades, 'grades.csv'), 'utf8').replace(
          /(,)\d+(\.\d+)?(?=,?\r?$)/gm,
          '$1time',
        ),
        grades: new Map(
          readdirSync(grades, { withFileTypes: true })
            .filter((entry) => entry.isDirectory())
            .map(({ name }) => name)
            .sort()
            .map((name) => {
              const text = readFileSync(join(grades, name, 'grade.json'), 'utf8');
              const { seconds, ...grade } = JSON.parse(text) as SubmissionGrade;
              return [name, grade] as const;
            }),
        ),
      }),
      [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
    };
  }
});

/** Fills in `${{ name }}`, as a runner does. */
function fillIn(text: string, context: Readonly<Record<string, string>>): string {
  return String(text).replace(/\$\{\{ ([\w.-]+) \}\}/g, (_, name: string) => {
    const value = context[name];
    if (value === undefined) throw new Error(`The test doesn't know ${name}`);
    return value;
  });
}

/** Lines of a log that a runner would obey. */
function commandsIn(log: string): string[] {
  const lines = log.split('\n');
  const obeyed: string[] = [];
  let token: string | undefined;
  for (const line of lines) {
    const [, command = '', value = ''] = /^\s*::([\w-]+)[^:]*::(.*)$/.exec(line) ?? [];
    if (token) {
      if (line.trim() === `::${token}::`) token = undefined;
    } else if (command === 'stop-commands') token = value;
    else if (command) obeyed.push(line);
  }
  return obeyed;
}
