import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

/** Another lesson's exercise, as a file of a lesson's folder imports it. */
const OF_ANOTHER_LESSON = /^\.\.\/\d\d-[^/]+\/exercise\.ts$/;

/**
 * Decides what an import of an exercise gets: the first of the candidates that stands beside it.
 * That holds for `./exercise.ts` in a lesson's spec, and for `../05-load-balancer/exercise.ts` in
 * any file of a lesson that is built from others. One spec thereby judges the student's file, the
 * reference and every named mistake, and no test is ever copied.
 *
 * @param candidates file names, such as `solution.ts`
 */
export function implementation(...candidates: string[]): Plugin {
  return {
    name: `traffic-layer:${candidates[0]}`,
    enforce: 'pre',
    resolveId(source, importer) {
      const own = source === './exercise.ts' && importer?.endsWith('.spec.ts');
      if (!importer || !(own || OF_ANOTHER_LESSON.test(source))) return;
      const folder = join(dirname(importer), dirname(source));
      const found = candidates.map((name) => join(folder, name)).find((file) => existsSync(file));
      // Vite's ids have forward slashes, on Windows too.
      return found?.replaceAll('\\', '/');
    },
  };
}
