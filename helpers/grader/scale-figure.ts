// Draws what `npm run grade:scale` has measured, from the file that SCALE_FILE names.
import { readFileSync } from 'node:fs';
import { drawFigure, lines } from '../lesson/figure.ts';
import { type MeasuredClass, minutesFor } from './scale-model.ts';

const measured = JSON.parse(readFileSync(process.env.SCALE_FILE ?? '', 'utf8')) as MeasuredClass;
const { facts, lessons, jobs, finished } = measured;
const minutes = minutesFor(measured, 1_000, jobs).toFixed(0);
const CLASSES = [1, 250, 500, 750, 1_000];

/** The picture, as an SVG document. */
export const svg = await drawFigure({
  title: `A class of 1,000 takes ${minutes} minutes on ${jobs} cores (lessons ${lessons.join(', ')})`,
  facts,
  option: () =>
    lines({
      x: { name: 'submissions' },
      y: { name: 'minutes' },
      series: [
        ...[1, 2, 4, 8].map((cores) => ({
          name: cores === 1 ? '1 core' : `${cores} cores`,
          points: CLASSES.map(
            (students) => [students, minutesFor(measured, students, cores)] as const,
          ),
        })),
        // Last, so that it lies on top of the line that it has to follow.
        {
          name: `measured, ${jobs} at a time`,
          points: finished.map(([count, seconds]) => [count, seconds / 60] as const),
        },
      ],
    }),
});
