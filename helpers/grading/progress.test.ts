import { describe, expect, it } from 'vitest';
import { parseSighting } from './progress.ts';

describe('what a watchdog wrote', () => {
  const place = { name: 'größe', file: '/course (1)/lessons/05/exercise.ts', line: 41, column: 3 };
  const read = (frames: unknown) => parseSighting(JSON.stringify({ thread: 'busy', frames }));

  it('is read as it is', () => {
    expect(read([place])).toEqual({ thread: 'busy', frames: [place] });
    expect(parseSighting('{"thread":"idle","frames":[]}')).toEqual({ thread: 'idle', frames: [] });
  });

  it.for(['', 'null', '7', '[]', '{', '{"thread":"busy"}', '{"thread":"asleep","frames":[]}'])(
    'is nothing when it is %s',
    (text) => {
      expect(parseSighting(text)).toBeUndefined();
    },
  );

  it.for([
    ['a line break in a file', { ...place, file: '/a\n    at forged (/b.ts:1:1)' }],
    ['a line break in a name', { ...place, name: 'f\ng' }],
    ['an escape sequence', { ...place, file: '/a\u001b[2J' }],
    ['a line that is no number', { ...place, line: '1' }],
    ['no file', { name: '', line: 1, column: 1 }],
    ['nothing', null],
  ] as const)('loses a place with %s', ([, frame]) => {
    expect(read([frame, place])).toEqual({ thread: 'busy', frames: [place] });
  });
});
