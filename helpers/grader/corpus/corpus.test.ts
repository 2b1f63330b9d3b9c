// Grades the corpus: every hostile submission that we could think of, in one batch.
import { createHash, randomUUID } from 'node:crypto';
import dgram from 'node:dgram';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COURSE_ROOT } from '../../grading/course.ts';
import type { LessonGrade } from '../../grading/grade.ts';
import { problemOf } from '../forbidden-imports.ts';
import { gradeSubmissions } from '../main.ts';
import type { SubmissionGrade } from '../types.ts';
import {
  ATTACKED,
  addLessons,
  exerciseText,
  HONEST,
  HOSTS,
  type HostileExercise,
  hostileExercises,
  retarget,
  SMALL,
  type Surroundings,
  solutionOf,
} from './corpus.ts';
import { HOSTILE_SUBMISSIONS, SOLVED, write } from './submissions.ts';

/** Seconds that a submission may take at most for each of its lessons, when all cores are busy. */
const LIMIT = 60;

type Lesson = typeof HONEST;

/** A hostile exercise or submission, and where it is handed in. */
interface Case {
  readonly name: string;
  readonly must: string;
  /** Exercises of the host whose points are its to get. */
  readonly earns: readonly string[];
  readonly honest: boolean;
  /** Name of the submission, which it may share with others. */
  readonly submission: string;
  readonly host: Lesson;
  /** The lesson beside it that has to get all its points. */
  readonly neighbour: Lesson;
}

/** A submission with some of the cases, and how its files come about. */
interface Submission {
  readonly cases: readonly Case[];
  make(folder: string, surroundings: Surroundings): string | undefined;
}

/**
 * Exercises that the grader refuses for what stands in them, before any of it runs. To see each of
 * them refused takes a millisecond, and to grade it seconds: so only some are graded.
 */
const isRefused = ({ body }: HostileExercise) => problemOf(body) !== undefined;
const GRADED_ALL_THE_SAME = /^(import|vite)-|^patch-mock$|^read-solution-import$/;

/**
 * Exercises that go for the whole submission: the others of it would be graded a second time, each
 * by itself. The controls are what others try to copy.
 */
const ALONE =
  /^control-|^exit-kill-the-parents$|^memory-(?!heap)|^process-fork-bomb$|^write-|-neighbour$/;

// `CORPUS=exit,loop` takes those whose name has one of the texts.
const wanted = process.env.CORPUS?.split(',');
const isWanted = ({ name }: { name: string }) =>
  wanted?.some((text) => name.includes(text)) ?? true;

const exercises = hostileExercises().filter(isWanted);
const refused = exercises.filter(
  (exercise) => isRefused(exercise) && !GRADED_ALL_THE_SAME.test(exercise.name),
);
const graded = exercises.filter((exercise) => !refused.includes(exercise));
const together = graded.filter(({ name }) => !ALONE.test(name));
const chosen: readonly Submission[] = [
  ...graded.filter(({ name }) => ALONE.test(name)).map((one) => holding(one.name, [one])),
  ...Array.from({ length: Math.ceil(together.length / HOSTS.length) }, (_, i) =>
    holding(`attacks-${i + 1}`, together.slice(i * HOSTS.length, (i + 1) * HOSTS.length)),
  ),
  ...HOSTILE_SUBMISSIONS.filter(({ notOn }) => notOn !== process.platform)
    .filter(isWanted)
    .map(({ name, must, earns = [], honest = true, make }) => ({
      cases: [
        {
          ...{ name, must, earns, honest, submission: name },
          ...{ host: SMALL.attacked, neighbour: SMALL.honest },
        },
      ],
      make,
    })),
];
const cases = chosen.flatMap((submission) => submission.cases);

/** A submission with hostile exercises, one for each host, and an honest lesson: a whole one for one. */
function holding(submission: string, attacks: readonly HostileExercise[]): Submission {
  const neighbour = attacks.length > 1 ? SMALL.honest : HONEST;
  const handedIn = attacks.map((attack, i) => ({ attack, host: HOSTS[i] ?? ATTACKED }));
  return {
    cases: handedIn.map(({ attack: { name, must, earns }, host }) => ({
      ...{ name, must, submission, host, honest: true, neighbour },
      earns: earns.map((id) => retarget(id, host)),
    })),
    make(folder, surroundings) {
      const solved = neighbour === HONEST ? solutionOf(HONEST.folder) : SOLVED;
      write(folder, `lessons/${neighbour.folder}/exercise.ts`, solved);
      for (const { attack, host } of handedIn) {
        const body = retarget(attack.body, host);
        const text = exerciseText({ ...attack, body }, surroundings);
        write(folder, `lessons/${host.folder}/exercise.ts`, text);
      }
      return undefined;
    },
  };
}

/** The address of a neighbour on the network: this machine's own, as others see it. */
const outsideHost = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === 'IPv4' && !address.internal)?.address;

describe('the corpus of hostile submissions', () => {
  const home = mkdtempSync(join(realpathSync(tmpdir()), 'traffic-layer-corpus-'));
  const [root, submissions, out, temporary, evidence] = [
    'course',
    'submissions',
    'out',
    'temporary',
    'evidence',
  ].map((name) => join(home, name)) as [string, string, string, string, string];
  const mark = `corpus-${randomUUID()}`;
  const secret = `secret-${randomUUID()}`;
  const grades = new Map<string, SubmissionGrade>();
  const printed: string[] = [];
  const visitors: string[] = [];
  let surroundings: Surroundings;
  let courseBefore: string[];
  let modulesBefore: string[];
  let leftRunning: string[];

  beforeAll(async () => {
    for (const folder of [submissions, out, temporary, evidence]) mkdirSync(folder);
    copyCourse(root);
    const [outside, outsidePort] = await listenOutside(visitors);
    surroundings = {
      ...{ root, submissions, out, temporary, evidence, mark, secret },
      port: await freePort(),
      outsideHost: outsideHost ?? '192.0.2.1',
      outsidePort,
    };
    const paths = chosen.map(({ cases, make }) => {
      const folder = join(submissions, cases[0]?.submission ?? '');
      return make(folder, surroundings) ?? folder;
    });
    courseBefore = hashesBelow(root);
    modulesBefore = modules();
    using _environment = environment({ TMPDIR: temporary, TMP: temporary, TEMP: temporary });
    using _secret = environment({ CORPUS_SECRET: secret });
    using _output = listenToOutput(printed);
    const all = await gradeSubmissions({
      submissions: paths,
      lessons: [HONEST, ...HOSTS, ...Object.values(SMALL)].map(({ lesson }) => lesson),
      out,
      // One more than the cores that a runner has: some of them hang.
      jobs: 3,
      courseRoot: root,
      limits: { submissionMs: 1_000 * LIMIT * (HOSTS.length + 1), megabytes: 2_000 },
    });
    for (const grade of all) grades.set(grade.submission, grade);
    leftRunning = await processesOf(mark, home);
    for (const listener of outside) listener.close();
  }, 900_000);

  afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

  it.for(cases.map((one) => [one.name, one] as const))(
    '%s',
    async ([, { must, earns, honest, submission, host, neighbour }], { annotate }) => {
      const grade = grades.get(submission);
      if (!grade) return expect.fail(`There is no grade of it. The grader must ${must}`);
      const lessonOf = ({ lesson }: Lesson) =>
        grade.lessons.find((grade) => grade.lesson === lesson) as LessonGrade;
      const [honestLesson, attackedLesson] = [lessonOf(neighbour), lessonOf(host)];
      await annotate(
        `${submission}, lesson ${host.lesson}, ${grade.seconds} s: ` +
          (attackedLesson.problem?.message ?? attackedLesson.exercises[1]?.message),
      );

      const ended = attackedLesson.exercises.flatMap(({ id, tests }) =>
        tests.map(({ name, status }) => ({ id, name, passed: status === 'passed' })),
      );
      const unearned = ended.filter(({ id, passed }) => passed && !earns.includes(id));
      expect(
        unearned.map(({ name }) => name),
        `no unearned point. The grader must ${must}`,
      ).toEqual([]);
      const lost = ended.filter(({ id, passed }) => !passed && earns.includes(id));
      expect(
        lost.map(({ name }) => name),
        `every earned point. ${attackedLesson.problem?.message}`,
      ).toEqual([]);
      expect(
        honestLesson.points,
        `the honest lesson counts in full. ${honestLesson.problem?.message} ${JSON.stringify(grade.notes)}`,
      ).toBe(honest ? honestLesson.possible : 0);
      expect(grade.state).toBe(honest ? 'graded' : 'broken');
      const held = cases.filter((one) => one.submission === submission).length;
      expect(grade.seconds, 'it ends in time').toBeLessThan(LIMIT * held);
      const least = (lesson: Lesson) => (Object.values(SMALL).includes(lesson) ? 3 : 100);
      expect(honestLesson.possible).toBeGreaterThanOrEqual(least(neighbour));
      expect(attackedLesson.possible).toBeGreaterThanOrEqual(least(host));
    },
  );

  it.for(refused.map((one) => [one.name, one] as const))(
    '%s is refused by its text',
    async ([, { body, earns }], { annotate }) => {
      await annotate(problemOf(body)?.message ?? '');
      expect(earns, 'a file that is refused earns nothing').toEqual([]);
    },
  );

  it('the batch goes on to its end', () => {
    const names = new Set(cases.map(({ submission }) => submission));
    expect([...grades.keys()].sort()).toEqual([...names].sort());
  });

  it('no process is left', () => {
    expect(leftRunning).toEqual([]);
  });

  it('no file is left, neither in the folder for temporary files nor where nobody may write', () => {
    expect(readdirSync(temporary)).toEqual([]);
    expect(readdirSync(evidence)).toEqual([]);
  });

  it('the course is as it was, to the byte', () => {
    expect(hashesBelow(root)).toEqual(courseBefore);
  });

  it('node_modules is as it was', () => {
    const before = new Set(modulesBefore);
    expect(modules().filter((file) => !before.has(file))).toEqual([]);
  });

  it('the results are those of the grader, and nothing else', () => {
    const table = readFileSync(join(out, 'grades.csv'), 'utf8');
    expect(readdirSync(out).sort()).toEqual([...grades.keys(), 'grades.csv'].sort());
    for (const [name, grade] of grades) {
      const folder = join(out, name);
      expect(readdirSync(folder).sort()).toEqual(['grade.json', 'junit.xml']);
      expect(JSON.parse(readFileSync(join(folder, 'grade.json'), 'utf8'))).toMatchObject({
        submission: name,
        points: grade.points,
      });
      for (const file of readdirSync(folder)) {
        expect(statSync(join(folder, file)).size, `${name}/${file}`).toBeLessThan(1e6);
      }
    }
    expect(table).not.toMatch(/^"?[=+@]/m);
    expect(table).not.toContain('\u001b');
  });

  it('what submissions print reaches nobody', () => {
    expect(printed.join('').slice(0, 500)).toBe('');
  });

  it('every port is free again', async () => {
    const server = net.createServer().listen(surroundings.port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
  });

  it.skipIf(!outsideHost)('nothing has left 127.0.0.1', () => {
    expect(visitors).toEqual([]);
  });
});

/**
 * The course without its history, with the attacked lesson several times, and with less patience for
 * what hangs. A copy, so that a grader that fails this test doesn't cost anybody their work.
 */
function copyCourse(root: string): void {
  const left = new Set(['.git', 'node_modules', 'reports', 'bench', 'grade.json', 'html']);
  cpSync(COURSE_ROOT, root, {
    recursive: true,
    filter: (path) => !left.has(relative(COURSE_ROOT, path)),
  });
  symlinkSync(
    realpathSync(join(COURSE_ROOT, 'node_modules')),
    join(root, 'node_modules'),
    'junction',
  );
  addLessons(root);
  const file = join(root, 'helpers/grader/grade.config.ts');
  let config = readFileSync(file, 'utf8');
  for (const [name, milliseconds] of [
    ['silentMs', 4_000],
    ['testTimeout', 2_000],
    ['fileMs', 12_000],
  ] as const) {
    const setting = new RegExp(`${name}: [\\d_]+`);
    if (!setting.test(config)) throw new Error(`${basename(file)} has no ${name}`);
    config = config.replace(setting, `${name}: ${milliseconds}`);
  }
  writeFileSync(file, config);
}

function hashesBelow(folder: string): string[] {
  return (
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return { path, name: relative(folder, path), isFile: entry.isFile() };
      })
      // Some versions of Node follow the link that node_modules is here, and others don't.
      .filter(({ name }) => !/^node_modules(?=[\\/]|$)/.test(name))
      .map(({ path, name, isFile }) => {
        const content = isFile ? readFileSync(path) : '';
        return `${name} ${createHash('sha256').update(content).digest('hex')}`;
      })
      .sort()
  );
}

/** What is installed, by name, size and time. Caches that every run writes to are left out. */
function modules(): string[] {
  const folder = realpathSync(join(COURSE_ROOT, 'node_modules'));
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/[\\/]\.(vite|vite-temp|cache)[\\/](?!was-here)/.test(file))
    .map((file) => `${relative(folder, file)} ${statSync(file).size} ${statSync(file).mtimeMs}`);
}

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Somebody outside of loopback, who writes down that they were called. */
async function listenOutside(visitors: string[]) {
  const host = outsideHost ?? '127.0.0.1';
  const server = net
    .createServer((socket) => {
      visitors.push('tcp');
      socket.destroy();
    })
    .listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = dgram.createSocket('udp4', () => visitors.push('udp')).bind(port, host);
  await once(socket, 'listening');
  return [[server, socket], port] as const;
}

/** Processes that an exercise has started, or that run in one of the batch's folders. */
async function processesOf(mark: string, home: string): Promise<string[]> {
  if (process.platform !== 'linux') return []; // nobody else can be asked without a program
  let found: string[] = [];
  for (let i = 0; i < 20; i += 1) {
    found = readdirSync('/proc').flatMap((pid) => {
      if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const folder = readlinkSync(`/proc/${pid}/cwd`);
        return command.includes(mark) || folder.startsWith(home) ? [`${pid} ${command}`] : [];
      } catch {
        return []; // gone by now
      }
    });
    if (found.length === 0) break;
    await sleep(100);
  }
  return found;
}

function environment(values: Readonly<Record<string, string>>): Disposable {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, values);
  return {
    [Symbol.dispose]() {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    },
  };
}

function listenToOutput(printed: string[]): Disposable {
  const streams = [process.stdout, process.stderr];
  const writes = streams.map((stream) => stream.write);
  for (const stream of streams) {
    stream.write = (text: string | Uint8Array) => {
      printed.push(String(text));
      return true;
    };
  }
  return {
    [Symbol.dispose]() {
      for (const [i, stream] of streams.entries()) stream.write = writes[i] as typeof stream.write;
    },
  };
}
