import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Folder of the whole course, without a trailing slash. */
export const COURSE_ROOT = fileURLToPath(new URL('../../', import.meta.url)).replace(/[\\/]$/, '');

/** A lesson that exists in this tree. */
export interface LessonFolder {
  /** Two digits, such as `05`. */
  readonly number: string;
  /** Folder below `lessons/`, such as `05-load-balancer`. */
  readonly folder: string;
  /** First heading of its README, without `Lesson 5:`. */
  readonly title: string;
  /** Titles of its exercises by number, such as `5.1`, in the README's order. */
  readonly exercises: ReadonlyMap<string, string>;
}

/**
 * The lessons below `lessons/`, in order.
 *
 * @param root folder of the course
 */
export function lessonFolders(root = COURSE_ROOT): LessonFolder[] {
  const lessons = `${root}/lessons`;
  return readdirSync(lessons)
    .filter((folder) => /^\d\d-/.test(folder) && existsSync(`${lessons}/${folder}/README.md`))
    .sort()
    .map((folder) => {
      const readme = readFileSync(`${lessons}/${folder}/README.md`, 'utf8');
      return {
        number: folder.slice(0, 2),
        folder,
        title: /^# Lesson \d+: (.*?)\r?$/m.exec(readme)?.[1] ?? folder,
        exercises: new Map(
          [...readme.matchAll(/^### Exercise (\d+\.\d+): (.*?)\r?$/gm)].map(([, number, title]) => [
            number ?? '',
            (title ?? '').replaceAll('`', ''),
          ]),
        ),
      };
    });
}
