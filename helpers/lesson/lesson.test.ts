import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openLesson } from './lesson.ts';

const README = `# Lesson 91: One

## Exercises

### Exercise 91.1: first

Task.

<details><summary>Hint 1: nudge</summary>

Look
at it.

</details>
<details><summary>Hint 2: approach</summary>Do it.</details>
<details>
<summary>Hint 3: near-solution</summary>

\`\`\`ts
done();
\`\`\`

</details>

### Exercise 91.10: another

<details><summary>Hint 1: nudge</summary>only one</details>

## Predict first

<details><summary>Answer</summary>not a hint</details>
`;

describe('openLesson', () => {
  let folder: string;
  const open = async (readme: string) => {
    await writeFile(join(folder, 'README.md'), readme);
    return openLesson(pathToFileURL(join(folder, 'one.spec.ts')).href);
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'lesson '));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.for([
    ['LF', README],
    ['CRLF', README.replaceAll('\n', '\r\n')],
  ] as const)(
    'hands out the three hints of an exercise, each in lines, with %s',
    async ([, text]) => {
      const lesson = await open(text);

      expect(lesson.exercise('91.1')).toEqual({
        meta: { exercise: '91.1', hints: [['Look at it.'], ['Do it.'], ['```ts done(); ```']] },
      });
    },
  );

  it('refuses an exercise that the README lacks, and one without three hints', async () => {
    const lesson = await open(README);

    expect(() => lesson.exercise('91.2')).toThrow('0 hints for exercise 91.2, wanted 3');
    expect(() => lesson.exercise('91.10')).toThrow('1 hints for exercise 91.10, wanted 3');
  });
});
