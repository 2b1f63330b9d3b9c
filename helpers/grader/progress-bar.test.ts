import { describe, expect, it } from 'vitest';
import { openProgress, type Progress } from './progress-bar.ts';
import type { SubmissionGrade } from './types.ts';

function gradeOf(submission: string, more: Partial<SubmissionGrade> = {}): SubmissionGrade {
  return {
    ...{ version: 1, submission, state: 'graded', whole: true, points: 5, possible: 6 },
    ...{ notes: [], seconds: 2, lessons: [] },
    ...more,
  };
}

/** What a screen holds after some progress, and all that was written to it. */
function show(screen: { isTTY?: boolean; columns?: number }, act: (progress: Progress) => void) {
  let written = '';
  let clock = 0;
  const progress = openProgress(
    {
      ...screen,
      write: (text) => {
        written += text;
      },
    },
    4,
    () => (clock += 1_000),
  );
  act(progress);
  // A line ends at the last time when it was wiped.
  const lines = written.split('\n').map((line) => line.split('\r\x1b[2K').at(-1) ?? '');
  return { lines, written };
}

describe('progress', () => {
  const work = (progress: Progress) => {
    progress.started('anna');
    progress.started('ben');
    progress.finished(gradeOf('ben'));
    progress.kept(gradeOf('carl'));
    progress.started('dora');
    progress.finished(
      gradeOf('dora', { state: 'broken', notes: [{ about: 'x', message: 'It is encrypted' }] }),
    );
  };

  it('is a line for each submission, and nothing else, in a file', () => {
    const { written } = show({}, work);
    expect(written).toBe(
      '1 of 4  ben  5 of 6 (83.3 %)  2.0 s\n3 of 4  dora  could not be graded: It is encrypted\n',
    );
  });

  it('ends with a bar, what runs and how long it will take, on a terminal', () => {
    const { lines } = show({ isTTY: true, columns: 100 }, work);
    expect(lines).toEqual([
      '1 of 4  ben  5 of 6 (83.3 %)  2.0 s',
      '3 of 4  dora  could not be graded: It is encrypted',
      `${'█'.repeat(18)}${'░'.repeat(6)} 3 of 4, about 1 s left  anna`,
    ]);
  });

  it('has a bar that fits its line, and is gone at the end', () => {
    const { lines } = show({ isTTY: true, columns: 30 }, work);
    expect(lines.at(-1)).toHaveLength(29);
    const { lines: closed } = show({ isTTY: true }, (progress) => {
      work(progress);
      progress.close();
      progress.close();
    });
    expect(closed.at(-1)).toBe('');
  });
});
