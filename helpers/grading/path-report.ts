import type { PathPiece } from '../lesson/pieces.ts';

type Owner = PathPiece['owner'];

/** Whose pieces a lesson runs on, in a sentence or two. */
export function pathSummary(lesson: string, pieces: readonly PathPiece[]): string {
  const of = (owner: Owner) => pieces.filter((piece) => piece.owner === owner);
  if (of('yours').length === 0) {
    return `Lesson ${lesson} runs on lent units. What you write in the lessons before takes their place`;
  }
  if (of('lent').length === 0) return `Lesson ${lesson} runs on your units from end to end`;
  const list = (owner: Owner) =>
    byUnit(of(owner))
      .map(([unit, found]) => [unit, ...found.map(({ exercise }) => exercise)].join(' '))
      .join(', ');
  return `Lesson ${lesson} runs on your ${list('yours')}. Lent: ${list('lent')}`;
}

/** Whose pieces a lesson runs on, a line for each unit, and why one is lent that was begun. */
export function pathLines(pieces: readonly PathPiece[]): string[] {
  const units = byUnit(pieces);
  const width = Math.max(...units.map(([unit]) => unit.length));
  const reasons = new Map<string, string[]>();
  for (const { exercise, reason } of pieces) {
    if (reason) reasons.set(reason, [...(reasons.get(reason) ?? []), exercise]);
  }
  return [
    ...units.map(([unit, found]) => {
      const owners = found.map(({ name, exercise, owner }) => `${name} ${exercise} ${owner}`);
      return `${unit.padEnd(width)}  ${owners.join(', ')}`;
    }),
    ...[...reasons].map(([reason, exercises]) => `${exercises.join(', ')} lent: ${reason}`),
  ];
}

function byUnit(pieces: readonly PathPiece[]): [unit: string, PathPiece[]][] {
  const units = new Map<string, PathPiece[]>();
  for (const piece of pieces) units.set(piece.unit, [...(units.get(piece.unit) ?? []), piece]);
  return [...units];
}
