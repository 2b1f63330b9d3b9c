import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { styleText } from 'node:util';
import type { UserConsoleLog } from 'vitest';
import type { Reporter, SerializedError, TestModule, TestRunEndReason, Vitest } from 'vitest/node';
import { wrap } from '../lesson/wrap.ts';
import { ledgerCoverage } from './coverage.ts';
import {
  firstProblem,
  type Grade,
  gradeRun,
  type LessonGrade,
  nextLesson,
  ownTitle,
  relative,
} from './grade.ts';
import { pathLines, pathSummary } from './path-report.ts';
import { askDoctor, suspectMachine } from './trouble.ts';

/** Columns that every terminal has. */
const WIDTH = 100;
const BAR_WIDTH = 24;
/** Lessons from which on there are two in a row, without bars, so that a report fits 24 rows. */
const MOST_ROWS = 10;

/** How long a reader like `head` takes to go when it has enough. */
const READER_MS = 300;

type Style = Parameters<typeof styleText>[0];

/**
 * What a student reads after a run: how far each lesson is, and the one thing to do next.
 *
 * Vitest's own reporters would print every red test of seventeen lessons. This one prints a table
 * when several lessons ran, the tests of a lesson when it ran alone (or has just been saved), and
 * everything about a reference that fails. It also writes `grade.json` and holds the ledger gate.
 */
export class CourseReporter implements Reporter {
  #vitest: Vitest | undefined;
  #started = 0;
  #logs: UserConsoleLog[] = [];
  /** The file that was saved, when that is why the tests run. */
  #saved: string | undefined;
  /** What the machine was last suspected of. */
  #suspicion: string | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
    // After `| head` nobody reads any more. A run comes to its end by itself, and watching doesn't.
    const stdout = vitest.logger.outputStream;
    if (vitest.config.watch) stdout.once('error', () => process.exit(1));
  }

  onTestRunStart(): void {
    this.#started = performance.now();
    this.#logs = [];
  }

  onWatcherRerun(_files: string[], trigger?: string): void {
    this.#saved = trigger;
    if (trigger) this.#line(this.#paint('dim', `\n  ${relative(trigger, this.#root)} has changed`));
  }

  onUserConsoleLog(log: UserConsoleLog): void {
    this.#logs.push(log);
  }

  async onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): Promise<void> {
    const vitest = this.#vitest;
    if (!vitest || reason === 'interrupted') return;
    const { watch } = vitest.config;
    const ran = (name: string) => modules.filter(({ project }) => project.name === name);
    const grade = gradeRun(vitest);
    const every = grade.lessons.filter(({ folder }) =>
      ran('exercises').some(({ moduleId }) => moduleId.includes(`/${folder}/`)),
    );
    // A lesson that is built on the saved one has run too, and isn't what the student looks at.
    const saved = every.filter(({ folder }) => this.#saved?.includes(`/${folder}/`));
    const lessons = saved.length > 0 ? saved : every;

    this.#line('');
    if (lessons.length > 1) this.#printTable(grade);
    else this.#printLogs();
    if (lessons.length === 1) for (const lesson of lessons) this.#printLesson(lesson);
    if (ran('solutions').length > 0) {
      this.#printReferences(ran('solutions'), lessons.length === 0);
    }
    for (const error of unhandledErrors) this.#error('An error outside of every test', error);
    if (lessons.length > 0) {
      this.#printNext(nextLesson(lessons) ?? nextLesson(grade.lessons));
      if (!watch && !vitest.config.testNamePattern) this.#hold(grade);
    }
    await this.#printTrouble(suspectMachine(modules, unhandledErrors, this.#root));
    if (watch) this.#line(this.#paint('dim', '\n  Waiting for changes. a runs all, q quits.'));
    // When its port is taken, Vite moves on to the next one.
    const [address] = vitest.vite.resolvedUrls?.local ?? [];
    if (vitest.config.ui && address) {
      this.#line(`  Vitest UI: ${new URL(vitest.config.uiBase, address)}`);
    }
    // That the reader of a pipe has gone shows only to who writes when it has.
    if (watch && !process.stdout.isTTY) setTimeout(() => this.#line(''), READER_MS).unref();
  }

  /** Vitest has no objection to a test that was skipped, and the course has. */
  #hold(grade: Grade): void {
    if (grade.points < grade.possible) process.exitCode = 1;
    writeFileSync(join(this.#root, 'grade.json'), `${JSON.stringify(grade, null, 2)}\n`);
  }

  #printTable(grade: Grade): void {
    const width = Math.max(...grade.lessons.map(({ title }) => title.length));
    const cells = grade.lessons.map(({ lesson, title, points, possible }) => {
      const row = `  ${lesson}  ${title.padEnd(width)}  ${`${points} of ${possible}`.padStart(10)}`;
      if (points === 0) return row;
      return this.#paint(points === possible ? 'green' : 'yellow', row);
    });
    if (cells.length > MOST_ROWS) {
      // So many that what to do next would push them off the screen.
      const half = Math.ceil(cells.length / 2);
      for (let row = 0; row < half; row += 1) {
        this.#line(`${cells[row]}${cells[row + half] ?? ''}`);
      }
      for (const { lesson, problem } of grade.lessons) {
        if (!problem) continue;
        const text = `Lesson ${lesson}: ${problem.message}`;
        this.#text(text, { indent: 6, lines: 1, style: 'red' });
      }
    } else {
      for (const [row, { points, possible, problem }] of grade.lessons.entries()) {
        const full = possible > 0 ? Math.floor((points / possible) * BAR_WIDTH) : 0;
        const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
        this.#line(`${cells[row]}  ${this.#paint(points === possible ? 'green' : 'yellow', bar)}`);
        if (problem) this.#text(problem.message, { indent: 6, lines: 1, style: 'red' });
      }
    }
    const took = `${((performance.now() - this.#started) / 1000).toFixed(1)} s`;
    this.#line(
      `\n  ${grade.points} of ${grade.possible} graded tests pass ` +
        this.#paint('dim', `(${took}; details: grade.json)`),
    );
    for (const { lesson, pieces } of grade.lessons) {
      if (pieces) this.#text(pathSummary(lesson, pieces), { indent: 2, lines: 2, style: 'dim' });
    }
  }

  #printLesson(lesson: LessonGrade): void {
    this.#line(`  ${this.#paint('bold', `Lesson ${lesson.lesson}: ${lesson.title}`)}`);
    for (const { id, title, status, points, possible, tests } of lesson.exercises) {
      const mark = { passed: '✓', failing: '✗', 'not-started': '○', 'not-run': '–' }[status];
      const style = { passed: 'green', failing: 'red', 'not-started': 'dim', 'not-run': 'dim' };
      const count =
        { 'not-started': 'not started', 'not-run': 'not run' }[status as string] ??
        `${points} of ${possible}`;
      this.#line(this.#paint(style[status] as Style, `  ${mark} ${id} ${title}  ${count}`));
      if (status !== 'failing') continue;
      for (const test of tests) {
        const title = ownTitle(test.name);
        if (test.status === 'passed') this.#line(this.#paint('green', `      ✓ ${title}`));
        else if (test.status === 'failing') {
          this.#line(this.#paint('red', `      ✗ ${title}`));
          this.#text(test.message ?? '', { indent: 10, lines: 1, style: 'dim' });
        } else this.#line(this.#paint('dim', `      ○ ${title}`));
      }
    }
    if (lesson.pieces) this.#line('  The path runs on:');
    for (const line of pathLines(lesson.pieces ?? [])) {
      this.#text(line, { indent: 4, lines: 2, style: 'dim' });
    }
    if (lesson.problem) {
      this.#text(lesson.problem.message, { indent: 2, lines: 6, style: 'red' });
    }
    this.#line('');
  }

  /** What the student's code printed, in the order in which it came. */
  #printLogs(): void {
    let before: string | undefined = 'none yet';
    for (const { taskId, content } of this.#logs) {
      if (taskId !== before) {
        const task = taskId ? this.#vitest?.state.idMap.get(taskId) : undefined;
        this.#line(this.#paint('dim', `  ${task ? `printed by "${task.name}"` : 'printed'}:`));
      }
      before = taskId;
      this.#line(content.trimEnd());
    }
    if (this.#logs.length > 0) this.#line('');
  }

  #printReferences(modules: readonly TestModule[], alone: boolean): void {
    const vitest = this.#vitest;
    if (!vitest) return;
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const passed = tests.filter((test) => test.result().state === 'passed').length;
    for (const module of modules) {
      for (const error of module.errors()) {
        this.#error(`The reference of ${module.relativeModuleId} cannot run`, error, module);
      }
      for (const test of module.children.allTests('failed')) {
        for (const error of test.result().errors ?? []) {
          this.#error(`The reference fails: ${test.fullName}`, error, module);
        }
      }
    }
    const { asserted, total, refuted, missing } = ledgerCoverage(vitest);
    this.#line(
      this.#paint(
        passed < tests.length || missing.length > 0 ? 'red' : 'dim',
        `  References: ${passed} of ${tests.length} tests pass, ` +
          `${asserted} of ${total} published numbers asserted` +
          (refuted.length > 0 ? `, ${refuted.length} of them refuted` : ''),
      ),
    );
    if (alone) for (const id of refuted) this.#line(this.#paint('dim', `    refuted: ${id}`));
    if (missing.length > 0) {
      process.exitCode = 1;
      this.#line(this.#paint('red', '  Published, but asserted by no passing test:'));
      const shown = alone ? missing : missing.slice(0, 5);
      for (const id of shown) this.#line(this.#paint('red', `    ${id}`));
      const more = missing.length - shown.length;
      if (more > 0) this.#line(this.#paint('red', `    and ${more} more: npm run solutions`));
    }
  }

  #printNext(lesson: LessonGrade | undefined): void {
    if (!lesson) {
      this.#line('\n  Everything that ran is done. Well built!');
      return;
    }
    const { problem, folder } = lesson;
    const exercise =
      lesson.exercises.find(({ status }) => status === 'failing') ??
      lesson.exercises.find(({ status }) => status !== 'passed');
    const test = exercise && firstProblem(exercise.tests);
    const wrong = test && test.status !== 'not-run' ? test : problem;
    const what = exercise ? `exercise ${exercise.id} ${exercise.title}` : `lesson ${lesson.lesson}`;
    this.#line(`\n  ${this.#paint('bold', `Next: ${what}`)}`);
    if (wrong && wrong === test) this.#text(ownTitle(test.name), { indent: 4, lines: 2 });
    if (wrong) this.#text(wrong.message ?? '', { indent: 4, lines: 10, style: 'red' });
    if (wrong?.at) this.#line(this.#paint('cyan', `    ${wrong.at}`));
    const [hint] = exercise?.hints ?? [];
    if (hint && wrong === test) this.#text(`Hint: ${hint}`, { indent: 4, lines: 2 });
    const read = `Read lessons/${folder}/README.md`;
    const work = this.#vitest?.config.watch
      ? ''
      : `, then: npm run learn -- lessons/${lesson.lesson}`;
    this.#line(this.#paint('dim', `    ${read}${work}`));
  }

  /** Asked once: while somebody works on an exercise, the machine stays as it is. */
  async #printTrouble(suspicion: string | undefined): Promise<void> {
    if (!suspicion || this.#suspicion === suspicion) return;
    this.#suspicion = suspicion;
    this.#line(this.#paint('yellow', `\n  ${suspicion} About this machine:`));
    for (const line of await askDoctor(this.#root)) this.#line(line);
  }

  #error(title: string, error: unknown, module?: TestModule): void {
    this.#line(this.#paint('red', `\n  ${title}`));
    this.#vitest?.logger.printError(error, {
      showCodeFrame: true,
      ...(module && { project: module.project }),
    });
  }

  get #root(): string {
    return this.#vitest?.config.root ?? '';
  }

  #line(text: string): void {
    this.#vitest?.logger.log(text);
  }

  /** Prints a text of any length in at most so many lines. */
  #text(text: string, options: { indent: number; lines: number; style?: Style }): void {
    const { indent, lines, style } = options;
    const all = text
      .trimEnd()
      .split('\n')
      .flatMap((line) => wrap(line, WIDTH - indent));
    const shown = all.slice(0, lines);
    if (all.length > lines) shown.push(`${(shown.pop() ?? '').slice(0, WIDTH - indent - 2)} …`);
    for (const line of shown) {
      const text = `${' '.repeat(indent)}${line}`;
      this.#line(style ? this.#paint(style, text) : text);
    }
  }

  #paint(style: Style, text: string): string {
    const colours = process.stdout.isTTY && !process.env.NO_COLOR;
    return colours ? styleText(style, text) : text;
  }
}
