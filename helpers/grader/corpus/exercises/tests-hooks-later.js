// Tries: to get at hooks with a name that is put together, so that every test is skipped or passed.
// Must: refuse the import, or give no point.

const { beforeEach, afterEach, describe, it, onTestFailed } = await import(
  /* @vite-ignore */ ['vi', 'test'].join('')
).catch(() => ({}));
try {
  beforeEach((context) => {
    context.task.result = { state: 'pass' };
    context.skip();
  });
  afterEach(({ task }) => {
    task.result.state = 'pass';
    task.result.errors = [];
  });
  describe.only('what passes', () => it.only('is this', () => {}));
  onTestFailed(() => {});
} catch {}
