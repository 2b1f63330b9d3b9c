import type { SubmissionGrade } from '../types.ts';
import {
  exerciseReport,
  fitting,
  gradedExercises,
  jsonBytes,
  plain,
  short,
  submissionReport,
} from './text.ts';

/** PrairieLearn's `results.json`. `prairielearn.schema.json` describes it. */
export type PrairieLearnResults =
  | {
      readonly gradable: true;
      /** 0 to 1. */
      readonly score: number;
      readonly message: string;
      readonly output: string;
      readonly tests: readonly {
        readonly name: string;
        readonly description: string;
        readonly points: number;
        readonly max_points: number;
        readonly message: string;
        readonly output: string;
      }[];
    }
  | {
      /** Costs the student no attempt. */
      readonly gradable: false;
      readonly message: string;
      readonly format_errors: readonly string[];
    };

/** The whole file may take 1 MB. */
const MOST_BYTES = 1_000_000;

/** One entry for each exercise; its graded tests are its points. */
export function toPrairieLearn(grade: SubmissionGrade): PrairieLearnResults {
  if (grade.state === 'broken') {
    const errors = grade.notes.map(({ about, message }) => `${about}: ${message}`);
    return {
      gradable: false,
      message: 'The submission could not be read, so nothing was graded.',
      format_errors: errors.slice(0, 100).map((error) => short(error, 2_000)),
    };
  }
  return fitting(
    (bytes) => build(grade, bytes),
    (results) => jsonBytes(results) <= MOST_BYTES,
  );
}

function build(grade: SubmissionGrade, bytes: number): PrairieLearnResults {
  return {
    gradable: true,
    score: grade.possible === 0 ? 0 : grade.points / grade.possible,
    message: `${grade.points} of ${grade.possible} graded tests pass.`,
    output: submissionReport(grade, bytes),
    tests: grade.lessons.flatMap((lesson) =>
      gradedExercises(lesson).map((exercise) => ({
        name: plain(`${exercise.id} ${exercise.title}`),
        description: plain(`Lesson ${lesson.lesson}: ${lesson.title}`),
        points: exercise.points,
        max_points: exercise.possible,
        message: short(exercise.message ?? '', bytes),
        output: exerciseReport(exercise, bytes),
      })),
    ),
  };
}
