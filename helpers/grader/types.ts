// The words of the grader: what it takes, what it finds out, and what it writes.
import type { Grade, LessonGrade } from '../grading/grade.ts';

/** A test that counts, as the reference's run of the spec has it. */
export interface RosterTest {
  /** Full name, unique in its lesson. */
  readonly name: string;
  /** Such as `5.1`. */
  readonly exercise: string;
  /** Three levels, each in one line. */
  readonly hints: readonly string[];
}

/** The tests of a lesson that count, and what the lesson is called. */
export interface LessonRoster {
  /** Two digits, such as `05`. */
  readonly lesson: string;
  /** Below `lessons/`. */
  readonly folder: string;
  readonly title: string;
  /** Titles by number, in the README's order. */
  readonly exercises: readonly { readonly id: string; readonly title: string }[];
  readonly tests: readonly RosterTest[];
}

/** Which tests count. It comes from the course, never from a submission. */
export interface Roster {
  readonly version: 1;
  /** Changes with every file of the course that a grade can depend on. */
  readonly courseHash: string;
  readonly lessons: readonly LessonRoster[];
}

/** Something that the grader noticed and that a person should read. */
export interface Note {
  /** File or lesson that it is about, as the submission has it. */
  readonly about: string;
  readonly message: string;
}

/** What was taken out of a submission: the text of `lessons/<folder>/exercise.ts`, by folder. */
export interface Collected {
  readonly exercises: ReadonlyMap<string, string>;
  /** What was not taken, and why; what was found in another place than expected. */
  readonly notes: readonly Note[];
}

/** How one test ended in the submission's process, as its sealed runner has signed it. */
export interface TestVerdict {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly errorName?: string;
  readonly message?: string;
  /** `file:line` below the course's folder. */
  readonly at?: string;
}

/** How one lesson's file ended. What it doesn't hold didn't happen, and counts as not passed. */
export interface LessonVerdict {
  readonly lesson: string;
  readonly tests: readonly TestVerdict[];
  /** Why the file did not run to its end, or not as it should have. */
  readonly problem?: { readonly message: string; readonly at?: string };
}

/** What the grader writes for one submission: `grade.json`. */
export interface SubmissionGrade extends Grade {
  /** The submission's name: that of its folder or zip file. */
  readonly submission: string;
  /** `broken`: it could not be read, or not be run, and has 0 points. The first note says why. */
  readonly state: 'graded' | 'broken';
  readonly notes: readonly Note[];
  readonly seconds: number;
  readonly lessons: readonly LessonGrade[];
}
