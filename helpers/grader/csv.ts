import type { SubmissionGrade } from './types.ts';

/**
 * All grades in a table for a spreadsheet, a submission in each row, by RFC 4180: lines end in CR LF,
 * and a cell with a comma, a quote or a line break is quoted. A lesson that wasn't graded for a
 * submission has an empty cell.
 */
export function toCsv(grades: readonly SubmissionGrade[]): string {
  const lessons = [
    ...new Set(grades.flatMap((grade) => grade.lessons.map(({ lesson }) => lesson))),
  ].sort();
  const header = ['submission', 'state', 'points', 'possible', 'percent'];
  const rows = grades.map((grade) => {
    const points = new Map(grade.lessons.map((lesson) => [lesson.lesson, lesson.points]));
    return [
      grade.submission,
      grade.state,
      grade.points,
      grade.possible,
      percent(grade),
      ...lessons.map((lesson) => points.get(lesson) ?? ''),
      notesOf(grade),
    ];
  });
  return [[...header, ...lessons.map((lesson) => `lesson ${lesson}`), 'notes'], ...rows]
    .map((row) => `${row.map(cell).join(',')}\r\n`)
    .join('');
}

/** Points of a hundred, rounded down to a tenth: 100 is only what is complete. */
export function percent({ points, possible }: { points: number; possible: number }): number {
  return possible === 0 ? 0 : Math.floor((points / possible) * 1_000) / 10;
}

/** What a person should read: the grader's notes, and why lessons did not run to their end. */
function notesOf({ state, notes, lessons }: SubmissionGrade): string {
  const noted = notes.map(({ message }) => message);
  const problems = lessons.flatMap(({ lesson, problem }) => {
    if (!problem || state === 'broken' || noted.includes(problem.message)) return [];
    const at = problem.at ? ` (${problem.at})` : '';
    return `lesson ${lesson}: ${problem.message.split('\n')[0]}${at}`;
  });
  return [...notes.map(({ about, message }) => `${about}: ${message}`), ...problems].join('; ');
}

function cell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  // A spreadsheet would calculate what begins like a formula, and names come from anybody.
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
