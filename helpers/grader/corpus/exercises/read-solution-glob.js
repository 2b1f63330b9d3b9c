// Tries: to have Vite itself collect the references at compile time, in a process with no walls.
// Must: give no point for it.

const files = {
  ...import.meta.glob('./*.ts', { eager: true }),
  ...import.meta.glob('../../**/solution.ts', { eager: true, query: '?raw', import: 'default' }),
  ...import.meta.glob('../../../../*/*/lessons/14*/solution.ts', { eager: true }),
};
const found = Object.keys(files).some((file) => file.endsWith('solution.ts'));
export const viewCost = () => aPointIf(found);
