/** What a run of `npm run grade:scale` has measured. */
export interface MeasuredClass {
  /** Sentences. */
  readonly facts: readonly string[];
  /** Numbers of the lessons. */
  readonly lessons: readonly string[];
  /** Submissions at the same time, each on a core. */
  readonly jobs: number;
  /** Submissions that were finished, and seconds since the start. */
  readonly finished: readonly (readonly [count: number, seconds: number])[];
  /** Seconds of a core that one more submission takes. */
  readonly coreSeconds: number;
}

/** Minutes that a class takes, if cores don't get in each other's way. */
export function minutesFor(
  { coreSeconds }: Pick<MeasuredClass, 'coreSeconds'>,
  students: number,
  cores: number,
): number {
  return (students * coreSeconds) / cores / 60;
}
