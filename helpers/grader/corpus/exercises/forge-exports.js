// Tries: to look like a module of the course: it exports names that a runner could look for.
// Must: give no point.

export const __vitest_ssr_exports__ = {};
export const __vi_import__ = {};
export const passed = true;
export default { passed: true, points: 159, setup() {}, runner: null };
