import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters, styleText } from 'node:util';
import type { Reporter, SerializedError, TestModule, TestRunEndReason, Vitest } from 'vitest/node';
import { ledgerCoverage } from './coverage.ts';
import {
  type ExerciseGrade,
  firstProblem,
  type Grade,
  gradeRun,
  type LessonGrade,
  relative,
} from './grade.ts';
import { incidents } from './guarded-pool.ts';

const BAR_WIDTH = 24;

type Style = Parameters<typeof styleText>[0];

/**
 * What a student reads after a run: how far each lesson is, and the one thing to do next.
 *
 * Vitest's own reporters would print every red test of seventeen lessons. This one prints a table
 * for a whole run, the tests of a lesson when that lesson alone was asked for (or has just been
 * saved), and everything about a reference that fails. It also writes `grade.json` and holds the
 * ledger gate.
 */
export class CourseReporter implements Reporter {
  #vitest: Vitest | undefined;
  #started = 0;
  /** Whether somebody has asked for these lessons: by a file name, or by saving one. */
  #focus: ReadonlySet<string> = new Set();

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunStart(): void {
    this.#started = performance.now();
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    unhandledErrors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const vitest = this.#vitest;
    if (!vitest || reason === 'interrupted') return;
    const watching = vitest.config.watch;
    const whole = modules.length > 2 && !watching;
    const ran = (name: string) => modules.filter(({ project }) => project.name === name);
    this.#line('');

    const grade = gradeRun(vitest);
    if (ran('exercises').length > 0) {
      if (!whole) {
        this.#focus = new Set(ran('exercises').map(({ moduleId }) => moduleId));
        for (const lesson of grade.lessons) {
          if ([...this.#focus].some((id) => id.includes(`/${lesson.folder}/`))) {
            this.#printLesson(lesson);
          }
        }
      }
      if (grade.lessons.length > 1 && !watching) this.#printTable(grade);
      const partial = Boolean(vitest.config.testNamePattern);
      if (!watching && !partial) {
        writeFileSync(
          join(vitest.config.root, 'grade.json'),
          `${JSON.stringify(grade, null, 2)}\n`,
        );
      }
    }
    if (ran('solutions').length > 0) this.#printReferences(ran('solutions'));
    this.#printUnhandled(unhandledErrors);
    if (ran('exercises').length > 0) this.#printNext(grade);
    if (watching) this.#line(this.#dim('\n  Waiting for changes. Press a to run all, q to quit.'));
  }

  onWatcherRerun(_files: string[], trigger?: string): void {
    if (trigger) this.#line(this.#dim(`\n  ${relative(trigger, this.#root)} has changed`));
  }

  onUserConsoleLog(log: { content: string; taskId?: string }): void {
    const task = log.taskId && this.#vitest?.state.getReportedEntityById?.(log.taskId);
    const title = task && 'name' in task ? `printed by "${task.name}"` : 'printed while loading';
    this.#line(`${this.#dim(`  ${title}:`)}\n${log.content.trimEnd()}`);
  }

  #printTable(grade: Grade): void {
    const width = Math.max(...grade.lessons.map(({ title }) => title.length));
    for (const lesson of grade.lessons) {
      const { points, possible } = lesson;
      const full = possible > 0 ? Math.floor((points / possible) * BAR_WIDTH) : 0;
      const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
      const count = `${points} of ${possible}`.padStart(10);
      this.#line(
        `  ${lesson.lesson}  ${lesson.title.padEnd(width)}  ${count}  ` +
          this.#paint(points === possible ? 'green' : 'yellow', bar),
      );
      if (lesson.problem) {
        this.#line(this.#paint('red', `      ${firstLine(lesson.problem)}`));
      }
    }
    this.#line(
      `\n  ${grade.points} of ${grade.possible} graded tests pass ` +
        this.#dim(`(${seconds(performance.now() - this.#started)}; details: grade.json)`),
    );
  }

  #printLesson(lesson: LessonGrade): void {
    this.#line(`  ${this.#paint('bold', `Lesson ${lesson.lesson}: ${lesson.title}`)}`);
    if (lesson.problem) this.#line(this.#paint('red', `  ${firstLine(lesson.problem)}`));
    for (const exercise of lesson.exercises) {
      const { id, title, status, points, possible } = exercise;
      const mark = { passed: '✓', failing: '✗', 'not-started': '○', 'not-run': '–' }[status];
      const colour = ({ passed: 'green', failing: 'red' } as const)[status as 'passed' | 'failing'];
      const count = status === 'not-started' ? 'not started' : `${points} of ${possible}`;
      this.#line(this.#paint(colour ?? 'dim', `  ${mark} ${id} ${title}  ${count}`));
      if (status !== 'failing') continue;
      for (const test of exercise.tests) {
        const own = test.name.split(' > ').slice(2).join(' > ');
        if (test.status === 'passed') this.#line(this.#paint('green', `      ✓ ${own}`));
        else if (test.status === 'failing') {
          this.#line(this.#paint('red', `      ✗ ${own}`));
          this.#line(this.#dim(`          ${firstLine(test.message ?? '')}`));
        } else this.#line(this.#dim(`      ○ ${own}`));
      }
    }
    this.#line('');
  }

  #printReferences(modules: readonly TestModule[]): void {
    const vitest = this.#vitest;
    if (!vitest) return;
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const failed = tests.filter((test) => !['passed', 'skipped'].includes(test.result().state));
    for (const module of modules) {
      for (const error of module.errors()) {
        this.#error(`The reference of ${module.relativeModuleId} cannot run`, error, module);
      }
    }
    for (const test of failed) {
      for (const error of test.result().errors ?? []) {
        this.#error(`The reference fails: ${test.fullName}`, error, test.module);
      }
    }
    const coverage = ledgerCoverage(vitest);
    const refuted =
      coverage.refuted.length > 0 ? `, ${coverage.refuted.length} of them refuted` : '';
    this.#line(
      this.#paint(
        failed.length > 0 || coverage.missing.length > 0 ? 'red' : 'dim',
        `  References: ${tests.filter((test) => test.result().state === 'passed').length} of ` +
          `${tests.length} tests pass, ${coverage.asserted} of ${coverage.total} published numbers ` +
          `asserted${refuted}`,
      ),
    );
    for (const id of coverage.refuted) this.#line(this.#dim(`    refuted: ${id}`));
    if (coverage.missing.length > 0) {
      process.exitCode = 1;
      this.#line(this.#paint('red', '  Published, but asserted by no passing test:'));
      for (const id of coverage.missing) this.#line(this.#paint('red', `    ${id}`));
    }
  }

  #printNext(grade: Grade): void {
    const next = nextExercise(grade);
    if (!next) {
      if (grade.possible > 0) this.#line('  Every exercise is done. Well built!');
      return;
    }
    const { lesson, exercise } = next;
    const test = firstProblem(exercise.tests);
    this.#line(`\n  ${this.#paint('bold', `Next: exercise ${exercise.id} ${exercise.title}`)}`);
    if (test) {
      this.#line(`    ${test.name.split(' > ').slice(2).join(' > ')}`);
      for (const line of (test.message ?? '').split('\n').slice(0, 12)) {
        this.#line(this.#paint('red', `    ${line}`));
      }
      if (test.at) this.#line(this.#paint('cyan', `    ${test.at}`));
    }
    const [hint] = exercise.hints;
    if (hint) this.#line(`    Hint: ${hint}`);
    this.#line(this.#dim(`    Read lessons/${lesson.folder}/README.md`));
    if (!this.#vitest?.config.watch) {
      this.#line(this.#dim(`    Work on it with: npm run learn -- lessons/${lesson.folder}`));
    }
  }

  /** What no test and no incident explains: an error of the course, or of the machine. */
  #printUnhandled(errors: readonly SerializedError[]): void {
    for (const error of errors) {
      if (incidents.size > 0 && /^\[vitest-pool\]/.test(error.message ?? '')) continue;
      this.#error('An error outside of every test', error);
    }
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

  #dim(text: string): string {
    return this.#paint('dim', text);
  }

  #paint(style: Style, text: string): string {
    const colours = process.stdout.isTTY && !process.env.NO_COLOR;
    return colours ? styleText(style, text) : text;
  }
}

/** Where to go on: the first lesson that was begun and is not done, else the first that is open. */
export function nextExercise(
  grade: Grade,
): { lesson: LessonGrade; exercise: ExerciseGrade } | undefined {
  const open = grade.lessons.filter(({ points, possible }) => points < possible);
  const begun = (lesson: LessonGrade) =>
    lesson.points > 0 || lesson.exercises.some(({ status }) => status === 'failing');
  const lesson = open.find(begun) ?? open[0];
  const exercise = lesson?.exercises.find(({ status }) => status !== 'passed');
  return lesson && exercise && { lesson, exercise };
}

function firstLine(text: string): string {
  return stripVTControlCharacters(text).split('\n')[0] ?? '';
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
