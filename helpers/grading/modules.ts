import type { TestCase, TestModule } from 'vitest/node';
import type { LessonFolder } from './course.ts';

/** The spec files of one lesson, as one Vitest project ran them. */
export function modulesOf(
  modules: readonly TestModule[],
  project: string,
  { folder }: LessonFolder,
): TestModule[] {
  return modules.filter(
    (module) => module.project.name === project && module.moduleId.includes(`/lessons/${folder}/`),
  );
}

/** All tests of these files, in the order of the specs. */
export function testsOf(modules: readonly TestModule[]): TestCase[] {
  return modules.flatMap((module) => [...module.children.allTests()]);
}
