import { stripVTControlCharacters } from 'node:util';

/** An export of another lesson's exercise, and whose it is here. Plain data, for reports. */
export interface Piece {
  /** Two digits, such as `05`. */
  readonly lesson: string;
  /** Exercise that asks for it, such as `5.5`. */
  readonly exercise: string;
  /** Such as `startBalancer`. */
  readonly name: string;
  /** `lent` is the reference's. */
  readonly owner: 'yours' | 'lent';
  /** Why it is lent, if not just because nobody has written it. */
  readonly reason?: string;
}

/** A piece that a running unit is made of. */
export interface PathPiece extends Piece {
  /** Such as `load balancer`. */
  readonly unit: string;
}

/** Pieces that were taken so far, and a way to take more. */
export interface PieceBox {
  readonly pieces: readonly Piece[];
  /**
   * The exports of a lesson: each the student's if it is written, and the reference's otherwise. An
   * export is written when its text has no call of `todo` any more, nor one of an export of the same
   * file that has.
   *
   * @param folder below `lessons/`, such as `05-load-balancer`
   * @param reference the lesson's `solution.ts`
   * @param load imports the lesson's `exercise.ts`. If that fails the whole lesson is lent.
   * @param exercises the exercise that asks for each export
   */
  take<Lesson extends object>(
    folder: string,
    reference: Lesson,
    load: () => Promise<object>,
    exercises: Readonly<Record<keyof Lesson, string>>,
  ): Promise<Lesson>;
}

/** Starts a system that is assembled from the exercises of other lessons. */
export function openPieces(): PieceBox {
  const pieces: Piece[] = [];
  return {
    pieces,
    async take(folder, reference, load, exercises) {
      const file = `lessons/${folder}/exercise.ts`;
      const chosen = { ...reference } as Record<string, unknown>;
      let student: Record<string, unknown> = {};
      let problem: string | undefined;
      try {
        student = (await load()) as Record<string, unknown>;
      } catch (error) {
        problem = `${file} cannot be loaded: ${firstLine(error)}`;
      }
      const open = unwritten(student);
      for (const [name, exercise] of Object.entries<string>(exercises)) {
        const missing = typeof student[name] !== 'function' && `${file} exports no ${name}`;
        const reason = problem || missing || open.get(name);
        // In the project of the references the student's file is the reference.
        const own = reason === undefined && student[name] !== chosen[name];
        if (own) chosen[name] = student[name];
        pieces.push({
          lesson: folder.slice(0, 2),
          exercise,
          name,
          owner: own ? 'yours' : 'lent',
          ...(reason && { reason }),
        });
      }
      return chosen as typeof reference;
    },
  };
}

/** A call of the imported `todo`, as Vite prints it. One that is commented out stays as it was. */
const TODO = /\.todo\)?\(/;

/** The functions that still come to a `todo`, and by which others, `''` for those with their own. */
function unwritten(exports: Readonly<Record<string, unknown>>): Map<string, string> {
  const texts = Object.entries(exports)
    .filter(([, value]) => typeof value === 'function')
    .map(([name, value]) => [name, Function.prototype.toString.call(value)] as const);
  const found = new Map<string, string>();
  for (const [name, text] of texts) if (TODO.test(text)) found.set(name, '');
  // A map's iterator also visits what is added on the way: that goes on to callers of callers.
  for (const callee of found.keys()) {
    const call = new RegExp(`(?<![.\\w$])${callee}\\s*\\(`);
    for (const [name, text] of texts) {
      if (!found.has(name) && call.test(text)) {
        found.set(name, `it calls ${callee}, which is not written`);
      }
    }
  }
  return found;
}

function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const lines = stripVTControlCharacters(message).split('\n');
  // "Transform failed with 1 error:" says nothing yet.
  return lines.find((line) => line.trim() && !line.endsWith(':')) ?? message;
}
