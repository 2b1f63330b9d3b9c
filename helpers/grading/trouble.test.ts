import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { COURSE_ROOT } from './course.ts';
import { makeTestBed, type TestBed, tinyExercise, tinyLesson, tinyStub } from './test-bed.ts';

const SPEC = 'lessons/91-failing/failing.spec.ts';
const lesson = tinyLesson('91', 'Failing', tinyStub('91'));

/** The part of the report that is about the machine. */
function aboutMachine(output: string): string | undefined {
  return /^ {2}.*About this machine:\n[\s\S]*?npm run doctor.*$/m.exec(output)?.[0];
}

/** A checkout has a lock file; here it is the course's own. */
function addLock(bed: TestBed): void {
  bed.write('package-lock.json', readFileSync(join(COURSE_ROOT, 'package-lock.json'), 'utf8'));
}

it('a run that fails by the student alone says nothing about the machine', async () => {
  using bed = makeTestBed(lesson);
  addLock(bed);

  const run = await bed.vitest(['run']);

  expect(run.output).toContain('Next: exercise 91.1');
  expect(run.output).not.toContain('doctor');
});

it('a student whose own code is refused something is not sent to the doctor', async () => {
  const listens =
    "throw Object.assign(new Error('listen EACCES: permission denied 127.0.0.1:80'), { code: 'EACCES' });";
  using bed = makeTestBed(tinyLesson('91', 'Failing', tinyExercise(listens)));
  addLock(bed);

  const run = await bed.vitest(['run']);

  expect(run.output).toContain('EACCES');
  expect(run.output).not.toContain('doctor');
});

it('a reference that fails has the doctor called, who says in a few lines what is wrong', async () => {
  using bed = makeTestBed({
    ...lesson,
    'lessons/91-failing/solution.ts': tinyExercise('return n;'),
  });
  addLock(bed);
  // The doctor's own finding, whatever this machine is like.
  bed.write('lessons/91-failing/notes.md', 'a\r\nb\r\n');

  const run = await bed.vitest(['run']);

  const said = aboutMachine(run.output) ?? '';
  expect(said).toMatch(
    /^ {2}A reference fails, and that is no fault of yours\. About this machine:$/m,
  );
  expect(said).toMatch(
    /warning {2}Line endings +1 file with CRLF \(lessons\/91-failing\/notes\.md\)/,
  );
  expect(said).toMatch(/^ {2}All that was looked at: npm run doctor$/m);
  expect(said).not.toMatch(/^ {2}ok /m);
  expect(said.split('\n').length).toBeLessThan(8);
});

it('so has a system that refuses something, though it is the student’s code that asks', async () => {
  const full =
    "throw Object.assign(new Error('listen EMFILE: too many open files'), { code: 'EMFILE' });";
  using bed = makeTestBed(tinyLesson('91', 'Failing', tinyExercise(full)));
  addLock(bed);

  const run = await bed.vitest(['run', '--project', 'exercises']);

  expect(aboutMachine(run.output)).toContain('refused something that the tests need (EMFILE)');
});

it('so have packages that are not those of the lock file', async () => {
  using bed = makeTestBed(lesson);
  const lock = JSON.parse(readFileSync(join(COURSE_ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string }>;
  };
  const vite = lock.packages['node_modules/vite'];
  if (vite) vite.version = '99.0.0';
  bed.write('package-lock.json', JSON.stringify(lock));

  const run = await bed.vitest(['run', '--project', 'exercises']);

  const said = aboutMachine(run.output);
  expect(said).toContain('node_modules is not what package-lock.json says');
  expect(said).toMatch(
    /problem {2}Packages +Not what package-lock\.json wants: vite \(.*, wanted 99\.0\.0\)/,
  );
  expect(said).toContain('npm ci');
});

it('in watch mode the doctor is called once, and watching goes on', async () => {
  using bed = makeTestBed({
    ...lesson,
    'lessons/91-failing/solution.ts': tinyExercise('return n;'),
  });
  addLock(bed);
  const spec = readFileSync(join(bed.root, SPEC), 'utf8');
  let saved = 0;

  const run = await bed.vitest(['watch'], {
    onOutput(output, child) {
      const waits = output.split('Waiting for changes').length - 1;
      if (waits > saved && saved < 2) {
        saved += 1;
        if (saved === 1) bed.write(SPEC, `${spec}\n`);
        else child.kill('SIGTERM');
      }
    },
  });

  expect(run.output.match(/About this machine:/g)).toHaveLength(1);
  expect(saved).toBe(2);
});
