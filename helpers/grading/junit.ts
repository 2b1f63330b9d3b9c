import { JUnitReporter, type TestModule, type Vitest } from 'vitest/node';

/** Vitest's own JUnit report, of a run of the student's exercises, in `reports/junit.xml`. */
export class GradeJUnitReporter extends JUnitReporter {
  #vitest: Vitest | undefined;

  constructor() {
    super({
      outputFile: 'reports/junit.xml',
      suiteName: 'Traffic Layer',
      // Neither this machine's name nor its paths, which a dying process prints, belong in a grade.
      hostname: 'localhost',
      includeConsoleOutput: false,
    });
  }

  override async onInit(vitest: Vitest): Promise<void> {
    this.#vitest = vitest;
  }

  override async onTestRunEnd(modules: ReadonlyArray<TestModule>): Promise<void> {
    const vitest = this.#vitest;
    const exercises = modules.filter(({ project }) => project.name === 'exercises');
    if (!vitest || vitest.config.watch || exercises.length === 0) return;
    // Here and not in onInit, which would empty the report of the run before.
    await super.onInit(quiet(vitest));
    for (const test of exercises.flatMap(({ children }) => [...children.allTests('skipped')])) {
      // Vitest counts by mode, and nobody meant to skip the tests that a dying process left behind.
      const task = vitest.state.idMap.get(test.id);
      if (task) task.mode = 'skip';
    }
    await super.onTestRunEnd(exercises);
  }
}

/** The same Vitest, which prints nothing: where the report was written is not the run's last word. */
function quiet(vitest: Vitest): Vitest {
  return new Proxy(vitest, {
    get(target, key) {
      if (key === 'logger') return { log() {}, highlight: (_: string, source: string) => source };
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
