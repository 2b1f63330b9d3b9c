import { JUnitReporter, type TestModule } from 'vitest/node';

/** Vitest's own JUnit report, of the student's exercises alone, in `reports/junit.xml`. */
export class GradeJUnitReporter extends JUnitReporter {
  constructor() {
    super({ outputFile: 'reports/junit.xml', suiteName: 'Traffic Layer' });
  }

  override async onTestRunEnd(modules: ReadonlyArray<TestModule>): Promise<void> {
    const exercises = modules.filter(({ project }) => project.name === 'exercises');
    if (exercises.length > 0) await super.onTestRunEnd(exercises);
  }
}
