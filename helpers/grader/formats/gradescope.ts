import type { SubmissionGrade } from '../types.ts';
import {
  cut,
  exerciseReport,
  fitting,
  gradedExercises,
  jsonBytes,
  plain,
  submissionReport,
} from './text.ts';

/** Gradescope's `results.json`, as far as the course uses it. `gradescope.schema.json` describes it. */
export interface GradescopeResults {
  /** Only where there is no test to carry it: it would override their sum. */
  readonly score?: number;
  /** Seconds. */
  readonly execution_time: number;
  readonly output: string;
  readonly output_format: 'text';
  readonly test_output_format: 'text';
  readonly test_name_format: 'text';
  readonly visibility: 'visible';
  readonly stdout_visibility: 'hidden';
  readonly tests: readonly {
    readonly name: string;
    readonly number: string;
    readonly score: number;
    readonly max_score: number;
    readonly status: 'passed' | 'failed';
    readonly output: string;
    readonly visibility: 'visible';
    readonly tags: readonly string[];
  }[];
}

/** A text that long is nothing to read in a browser. Gradescope documents no limit. */
const MOST_OUTPUT = 65_535;
const MOST_BYTES = 2_000_000;

/**
 * One entry for each exercise, which is what a person wants to see folded and unfolded; its graded
 * tests are its points. What was printed is hidden: it may come from a student's program.
 */
export function toGradescope(grade: SubmissionGrade): GradescopeResults {
  return fitting(
    (bytes) => build(grade, bytes),
    (results) => jsonBytes(results) <= MOST_BYTES,
  );
}

function build(grade: SubmissionGrade, bytes: number): GradescopeResults {
  const tests = grade.lessons.flatMap((lesson) =>
    gradedExercises(lesson).map((exercise) => ({
      name: plain(`Lesson ${lesson.lesson}, ${exercise.id} ${exercise.title}`),
      number: exercise.id,
      score: exercise.points,
      max_score: exercise.possible,
      status: exercise.status === 'passed' ? ('passed' as const) : ('failed' as const),
      output: cut(exerciseReport(exercise, bytes), MOST_OUTPUT),
      visibility: 'visible' as const,
      tags: [`lesson-${lesson.lesson}`],
    })),
  );
  return {
    ...(tests.length === 0 && { score: 0 }),
    execution_time: Math.round(grade.seconds),
    output: cut(submissionReport(grade, bytes), MOST_OUTPUT),
    output_format: 'text',
    test_output_format: 'text',
    test_name_format: 'text',
    visibility: 'visible',
    stdout_visibility: 'hidden',
    tests,
  };
}
