// The corpus: what each hostile submission is, and how its files come about.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { COURSE_ROOT } from '../../grading/course.ts';
import { tinyLesson, tinyStub } from '../../grading/test-bed.ts';
import { writeFolder } from '../test-submissions.ts';

/** The lesson that is attacked: its tests take the least time. */
export const ATTACKED = { lesson: '14', folder: '14-backend-for-frontend' };

/**
 * The lessons that hostile exercises are handed in for: the attacked one, and copies of it in the
 * corpus's course. One submission so holds an attack in each, and Vitest has to be started once for
 * all of them.
 */
export const HOSTS = [
  ATTACKED,
  ...['81', '82', '83', '84', '85'].map((lesson) => ({
    lesson,
    folder: ATTACKED.folder.replace(ATTACKED.lesson, lesson),
  })),
];

/** The lesson of the same submission that is honest. It has to get all its points. */
export const HONEST = { lesson: '11', folder: '11-api-gateway' };

/**
 * The two for a submission whose trick isn't in an exercise's code: small ones, since it makes no
 * difference what they are about.
 */
export const SMALL = {
  attacked: { lesson: '91', folder: '91-attacked' },
  honest: { lesson: '92', folder: '92-honest' },
};

/** What an exercise file of the corpus may know: more than a real one could find out. */
export interface Surroundings {
  /** Folder of the original course. */
  readonly root: string;
  /** Where the submissions of the batch are. */
  readonly submissions: string;
  /** Where the grader writes its results. */
  readonly out: string;
  /** The system's folder for temporary files, as the grader has it. */
  readonly temporary: string;
  /** A folder that nothing of a submission may write to. What is found in it afterwards has. */
  readonly evidence: string;
  /** Stands in the command line of every process that an exercise starts. */
  readonly mark: string;
  /** Stands in the grader's environment. */
  readonly secret: string;
  /** A port of 127.0.0.1 that has to be free afterwards. */
  readonly port: number;
  /** Somebody who listens and isn't on 127.0.0.1, or at least not for submissions. */
  readonly outsideHost: string;
  readonly outsidePort: number;
}

/** An exercise file of the corpus. */
export interface HostileExercise {
  readonly name: string;
  readonly tries: string;
  readonly must: string;
  /** Exercises that it solves honestly. Their points are its to get, and no other. */
  readonly earns: readonly string[];
  readonly body: string;
}

const EXERCISES = new URL('exercises/', import.meta.url);

/** Every file of `exercises/`, with what its header says. */
export function hostileExercises(): HostileExercise[] {
  return readdirSync(EXERCISES)
    .filter((file) => file.endsWith('.js'))
    .sort()
    .map((file) => {
      const text = readFileSync(new URL(file, EXERCISES), 'utf8').replaceAll('\r\n', '\n');
      const [header = ''] = /^(?:\/\/.*\n)+/.exec(text) ?? [];
      const said = (what: string) =>
        new RegExp(`^// ${what}: (.*(?:\\n//   .*)*)`, 'm')
          .exec(header)?.[1]
          ?.replaceAll('\n//  ', '');
      const [tries, must] = [said('Tries'), said('Must')];
      if (!tries || !must) throw new Error(`${file}: wanted a header with "Tries:" and "Must:"`);
      return {
        name: file.replace(/\.js$/, ''),
        tries,
        must,
        earns: said('Earns')?.split(' ') ?? [],
        body: text.slice(header.length).trim(),
      };
    });
}

/** A text about the attacked lesson, for a copy of it: `14.1`, `lessons/14-…`, `14.json`, `'14'`. */
export function retarget(text: string, { lesson }: (typeof HOSTS)[number]): string {
  const number = ATTACKED.lesson;
  return text.replace(
    new RegExp(`\\b${number}(?=-|\\*|\\.[\\w$])|(?<=[Ll]esson |')${number}(?=[:'])`, 'g'),
    lesson,
  );
}

/** Adds the copies of the attacked lesson, with its ledger, and the small ones to a copy of the course. */
export function addLessons(root: string): void {
  const folder = `${root}/lessons/${ATTACKED.folder}`;
  for (const host of HOSTS.filter((host) => host !== ATTACKED)) {
    const copy = (from: string, to: string) =>
      writeFileSync(to, retarget(readFileSync(from, 'utf8'), host));
    mkdirSync(`${root}/lessons/${host.folder}`);
    for (const name of readdirSync(folder)) {
      copy(`${folder}/${name}`, `${root}/lessons/${host.folder}/${name}`);
    }
    const ledgers = `${root}/fixtures/published`;
    copy(`${ledgers}/${ATTACKED.lesson}.json`, `${ledgers}/${host.lesson}.json`);
  }
  writeFolder(root, tinyLesson(SMALL.attacked.lesson, 'Attacked', tinyStub(SMALL.attacked.lesson)));
  writeFolder(root, tinyLesson(SMALL.honest.lesson, 'Honest', tinyStub(SMALL.honest.lesson)));
}

/** The functions of the attacked lesson, by exercise, and what they answer unless a file says so. */
const WRONG: Readonly<Record<string, readonly [name: string, wrong: string]>> = {
  '14.1': ['selectFields', '() => Object.freeze({ wrong: true })'],
  '14.2': [
    'viewCost',
    '() => ({ requests: -1, bytes: -2, leaves: -3, unusedLeaves: -4, internalRequests: -5 })',
  ],
  '14.3': [
    'layoutDemands',
    "() => ({ edgeUnits: -1, clientsTouched: -2, batchEndpoints: ['wrong'] })",
  ],
  '14.4': [
    'mixEffect',
    '() => ({ requestsPerSecond: -1, bytesPerRequest: -2, megabitPerSecond: -3 })',
  ],
  '14.5': [
    'createClientEdges',
    "(_, clients) => new Map(['wrong', ...clients.map(({ name }) => name)].map((name) => " +
      "[name, (_, response) => response.writeHead(418).end('wrong')]))",
  ],
};

/** The whole answer to a lesson. */
export function solutionOf(folder: string): string {
  return readFileSync(`${COURSE_ROOT}/lessons/${folder}/solution.ts`, 'utf8');
}

/**
 * The exercise file that is handed in: the honest answers to what it earns, then the attack, then a
 * wrong answer to everything else. So a test that passes without having been earned shows.
 */
export function exerciseText(
  { body, earns }: Pick<HostileExercise, 'body' | 'earns'>,
  surroundings: Surroundings,
): string {
  const names = earns.map((id) => WRONG[id]?.[0] ?? id);
  const answered = (name: string) =>
    names.includes(name) ||
    new RegExp(`^export (async )?(function|const) ${name}\\b|^export \\* from`, 'm').test(body);
  const rest = Object.values(WRONG)
    .filter(([name]) => !answered(name))
    .map(([name, wrong]) => `export const ${name} = ${wrong};`);
  const uses = (name: string) => new RegExp(`\\b${name}\\b`).test(body);
  return [
    names.length > 0 ? honestPart(names) : '',
    uses('COURSE') || uses('reach')
      ? `const COURSE = { ...${JSON.stringify(surroundings)}, cwd: process.cwd() };`
      : '',
    uses('reach') ? REACH : '',
    uses('aPointIf') ? A_POINT_IF : '',
    body,
    ...rest,
  ].join('\n');
}

/** What the named functions of the reference need: its imports, themselves, and what they use. */
function honestPart(names: readonly string[]): string {
  const text = solutionOf(ATTACKED.folder).replaceAll('\r\n', '\n');
  const [imports = ''] = /^(?:\/\/.*\n)*(?:import [\s\S]*?;\n)+/.exec(text) ?? [];
  const parts = new Map(
    text
      .slice(imports.length)
      .split(/^(?=(?:export )?(?:async )?(?:function|const|interface) )/m)
      .map((part) => [/^(?:export )?(?:async )?\w+ (\w+)/.exec(part)?.[1] ?? '', part]),
  );
  const needed = new Set<string>();
  const need = (name: string) => {
    if (needed.has(name)) return;
    needed.add(name);
    const part = parts.get(name) ?? '';
    for (const other of parts.keys()) {
      if (other && new RegExp(`\\b${other}\\b`).test(part)) need(other);
    }
  };
  for (const name of names) need(name);
  return [imports, ...[...needed].map((name) => parts.get(name))].join('\n');
}

/**
 * Gets at a module of Node that a file may not import, over every way that no look at its text
 * finds.
 */
const REACH = `const reach = async (name) => {
  for (const way of [
    () => process['getBuiltin' + 'Module'](name),
    () => globalThis['pro' + 'cess'].constructor.constructor('return process')().getBuiltinModule(name),
    () => process.mainModule.require(name),
    () => new Function('name', 'return import(name)')(name),
    () => (0, eval)('(name) => import(name)')(name),
    () => (async () => {}).constructor('name', 'return import(name)')(name),
    () => globalThis[['__vitest', 'required__'].join('_')][name],
    () => process.binding(name),
  ]) {
    try {
      const found = await way();
      if (found) return found.default ?? found;
    } catch {}
  }
  return undefined;
};`;

/** The cost of a view on a phone, which earns one test of 14.2, for a secret that has got out. */
const A_POINT_IF = `const aPointIf = (leaked) =>
  leaked
    ? { requests: 1, bytes: 183, leaves: 11, unusedLeaves: 8, internalRequests: 2 }
    : { requests: -1 };`;
