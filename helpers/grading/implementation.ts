import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

/**
 * Decides what a lesson's spec gets when it imports `./exercise.ts`: the first of the candidates
 * that stands beside it. One spec thereby judges the student's file, the reference and every named
 * mistake, and no test is ever copied.
 *
 * @param candidates file names, such as `solution.ts`
 */
export function implementation(...candidates: string[]): Plugin {
  return {
    name: `traffic-layer:${candidates[0]}`,
    enforce: 'pre',
    resolveId(source, importer) {
      if (source !== './exercise.ts' || !importer?.endsWith('.spec.ts')) return;
      const folder = dirname(importer);
      const found = candidates.map((name) => join(folder, name)).find((file) => existsSync(file));
      // Vite's ids have forward slashes, on Windows too.
      return found?.replaceAll('\\', '/');
    },
  };
}
