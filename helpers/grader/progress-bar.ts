import { percent } from './csv.ts';
import type { SubmissionGrade } from './types.ts';

/** What the progress of a class is shown on. */
export interface Progress {
  started(submission: string): void;
  finished(grade: SubmissionGrade): void;
  /** The submission was graded by an earlier call. */
  kept(grade: SubmissionGrade): void;
  /** Takes the bar away. May be called twice. */
  close(): void;
}

/** The parts of a stream that are needed. */
interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

const BAR_WIDTH = 24;

/**
 * Shows how far the class is: a line for each submission when it is done, and below them, on a
 * terminal, a bar with what runs and how long the rest will take.
 *
 * @param total submissions
 */
export function openProgress(
  screen: Screen,
  total: number,
  now: () => number = () => performance.now(),
): Progress {
  const running = new Set<string>();
  const beginning = now();
  const width = String(total).length;
  let done = 0;
  let kept = 0;
  let shown = false;

  const wipe = () => {
    if (shown) screen.write('\r\x1b[2K');
    shown = false;
  };
  const draw = () => {
    if (!screen.isTTY) return;
    wipe();
    const filled = total === 0 ? 0 : Math.floor((done / total) * BAR_WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
    const text = `${bar} ${done} of ${total}${timeLeft()}  ${[...running].join(', ')}`;
    // A line that wraps can't be wiped.
    screen.write([...text].slice(0, (screen.columns ?? 80) - 1).join(''));
    shown = true;
  };
  const timeLeft = () => {
    const measured = done - kept;
    if (measured < 2 || done === total) return '';
    const seconds = (((now() - beginning) / 1_000) * (total - done)) / measured;
    return seconds < 90
      ? `, about ${Math.ceil(seconds)} s left`
      : `, about ${Math.ceil(seconds / 60)} min left`;
  };
  return {
    started(submission) {
      running.add(submission);
      draw();
    },
    finished(grade) {
      running.delete(grade.submission);
      done += 1;
      wipe();
      screen.write(`${String(done).padStart(width)} of ${total}  ${lineOf(grade)}\n`);
      draw();
    },
    kept() {
      done += 1;
      kept += 1;
      draw();
    },
    close: wipe,
  };
}

function lineOf(grade: SubmissionGrade): string {
  const { submission, state, points, possible, seconds, notes } = grade;
  if (state === 'broken') return `${submission}  could not be graded: ${notes[0]?.message ?? ''}`;
  const more = notes.length === 0 ? '' : `  ${notes.length} note${notes.length > 1 ? 's' : ''}`;
  const score = `${points} of ${possible} (${percent(grade)} %)`;
  return `${submission}  ${score}  ${seconds.toFixed(1)} s${more}`;
}
