import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type BedChild, makeTestBed, SHORT_LIMITS, tinyExercise, tinyLesson } from './test-bed.ts';

/** Loops for ever, beside a process that it has started and that would stay for ever too. */
const hang = tinyExercise(
  `spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'], { stdio: 'ignore' });
  writeFileSync('looping', '');
  for (;;) {}`,
  `import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';`,
);
const done = tinyExercise('return n / 2;');

/** What a terminal, a shell or a person does to a run. */
const ends: Record<string, (child: BedChild) => void> = {
  'Ctrl-C': (child) => child.killGroup('SIGINT'),
  kill: (child) => child.kill('SIGTERM'),
  'kill -9': (child) => child.kill('SIGKILL'),
  'a closed terminal': (child) => child.killGroup('SIGHUP'),
  '`| head`': (child) => child.closeOutput(),
};

describe.skipIf(process.platform === 'win32')(
  'nothing is left behind',
  { timeout: 120_000 },
  () => {
    for (const [name, end] of Object.entries(ends)) {
      it.for(['run', 'watch'])(`by ${name} during an endless loop in vitest %s`, async (mode) => {
        using bed = makeTestBed(
          { ...tinyLesson('91', 'One', hang), ...tinyLesson('92', 'Two', hang) },
          SHORT_LIMITS,
        );
        const run = await bed.vitest([mode, '--project', 'exercises'], {
          ownGroup: true,
          onStart: async (child) => {
            while (!existsSync(join(bed.root, 'looping'))) await setTimeout(20);
            end(child);
          },
        });
        expect(run.code).not.toBe(0);
        expect(run.leftBehind).toEqual([]);
      });

      it(`by ${name} while vitest watch waits for changes`, async () => {
        using bed = makeTestBed(tinyLesson('91', 'One', done), SHORT_LIMITS);
        let hasEnded = false;
        const run = await bed.vitest(['watch'], {
          ownGroup: true,
          onOutput(output, child) {
            if (hasEnded || !output.includes('Waiting for changes')) return;
            hasEnded = true;
            end(child);
          },
        });
        expect(run.leftBehind).toEqual([]);
      });
    }

    it('by a lesson that leaves a process when an endless loop was stopped', async () => {
      using bed = makeTestBed(tinyLesson('91', 'One', hang), SHORT_LIMITS);
      const run = await bed.vitest(['run', '--project', 'exercises']);
      expect(run.output).toContain('lessons/91-one/exercise.ts:9');
      expect(run.leftBehind).toEqual([]);
    });
  },
);
