import { describe, expect, it } from 'vitest';
import type { PathPiece } from '../lesson/pieces.ts';
import { pathLines, pathSummary } from './path-report.ts';

const piece = (
  unit: string,
  exercise: string,
  name: string,
  owner: PathPiece['owner'],
  reason?: string,
): PathPiece => ({
  unit,
  lesson: (exercise.split('.')[0] ?? '').padStart(2, '0'),
  exercise,
  name,
  owner,
  ...(reason && { reason }),
});

const mixed = [
  piece('edge caches', '2.2', 'LruCache', 'yours'),
  piece('load balancer', '5.4', 'HealthTracker', 'yours'),
  piece('load balancer', '5.5', 'startBalancer', 'yours'),
  piece('load balancer', '8.3', 'createRing', 'lent', 'it is broken'),
  piece('ambassador', '15.4', 'startAmbassador', 'lent'),
];
const all = (owner: PathPiece['owner']) => mixed.map((one) => ({ ...one, owner }));

describe('the units of a path', () => {
  it('in a sentence: which are yours, and which are lent', () => {
    expect(pathSummary('17', mixed)).toBe(
      'Lesson 17 runs on your edge caches 2.2, load balancer 5.4 5.5. ' +
        'Lent: load balancer 8.3, ambassador 15.4',
    );
    expect(pathSummary('17', all('lent'))).toBe(
      'Lesson 17 runs on lent units. What you write in the lessons before takes their place',
    );
    expect(pathSummary('17', all('yours'))).toBe('Lesson 17 runs on your units from end to end');
  });

  it('in lines: one for each unit, and one for each reason', () => {
    expect(pathLines(mixed)).toEqual([
      'edge caches    LruCache 2.2 yours',
      'load balancer  HealthTracker 5.4 yours, startBalancer 5.5 yours, createRing 8.3 lent',
      'ambassador     startAmbassador 15.4 lent',
      '8.3 lent: it is broken',
    ]);
  });
});
