import { describe, expect, it } from 'vitest';
import { openPieces } from './pieces.ts';
import { todo } from './todo.ts';

const reference = {
  double: (n: number): number => 2 * n,
  halve: (n: number): number => n / 2,
};
const exercises = { double: '91.1', halve: '91.2' };
const halved = () => 'mine';

/** Takes one lesson's exports from a student's module. */
async function take(student: object | Error) {
  const { pieces, take } = openPieces();
  const load = async () => {
    if (student instanceof Error) throw student;
    return student;
  };
  const lesson = await take('91-one', reference, load, exercises);
  return { lesson, double: pieces[0], halve: pieces[1] };
}

describe('a piece', () => {
  it("is the student's when it is written, whatever the others are", async () => {
    const { lesson, double, halve } = await take({
      double: () => todo('91.1 double'),
      halve: halved,
    });
    expect(halve).toEqual({ lesson: '91', exercise: '91.2', name: 'halve', owner: 'yours' });
    expect(lesson.halve).toBe(halved);
    expect(double).toEqual({ lesson: '91', exercise: '91.1', name: 'double', owner: 'lent' });
    expect(lesson.double).toBe(reference.double);
  });

  it.for([
    ['a function', () => todo('91.2 halve')],
    ['an async function', async () => todo('91.2 halve')],
    ['one branch of a function', (n: number) => (n === 0 ? 0 : todo('91.2 halve, but for 0'))],
    [
      'a method of a class',
      class {
        halve(): number {
          return todo('91.2 halve');
        }
      },
    ],
  ] as const)('is lent while a todo stands in %s', async ([, halve]) => {
    expect((await take({ double: halved, halve })).halve?.owner).toBe('lent');
  });

  it("is the student's when the todo is only left in a comment", async () => {
    const halve = (n: number): number => {
      // return todo('91.2 halve');
      return n / 2;
    };
    expect((await take({ double: halved, halve })).halve?.owner).toBe('yours');
  });

  it('is lent while it calls another that is not written, also through a third', async () => {
    const double = (): number => todo('91.1 double');
    const triple = (): number => double() * 1.5;
    const halve = (): number => triple() / 6;
    const { lesson, halve: piece } = await take({ halve, triple, double });
    expect(piece).toMatchObject({
      owner: 'lent',
      reason: 'it calls triple, which is not written',
    });
    expect(lesson.halve).toBe(reference.halve);
  });

  it('is no caller of an export because a method or a variable has its name', async () => {
    const double = (): number => todo('91.1 double');
    const halve = (maths: { double(): number }): number => {
      const double = maths.double();
      return double / 4;
    };
    expect((await take({ double, halve })).halve?.owner).toBe('yours');
  });

  it('is lent when its file does not export it, or something else by its name', async () => {
    const { double, halve } = await take({ halve: 2 });
    expect(double?.reason).toBe('lessons/91-one/exercise.ts exports no double');
    expect(halve?.reason).toBe('lessons/91-one/exercise.ts exports no halve');
  });

  it('is lent, with a reason, when its file cannot be loaded', async () => {
    const { lesson, double, halve } = await take(new Error('\nit is empty\nat line 3'));
    expect([double?.reason, halve?.reason]).toEqual([
      'lessons/91-one/exercise.ts cannot be loaded: it is empty',
      'lessons/91-one/exercise.ts cannot be loaded: it is empty',
    ]);
    expect(lesson).toEqual(reference);
  });

  it("is lent when it is the reference's own", async () => {
    expect((await take(reference)).halve).toMatchObject({ owner: 'lent' });
  });
});
