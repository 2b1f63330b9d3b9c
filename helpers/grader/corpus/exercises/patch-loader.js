// Tries: to load its own modules in the place of others, through hooks of Node's loader.
// Must: give no point for it, and have nothing evaluated in another process.

const module = (await reach('module')) ?? {};
const hooks = `
  export async function load(url, context, next) {
    if (url.endsWith('/chai/index.js')) {
      return { format: 'module', shortCircuit: true, source: 'export const Assertion = class {};' };
    }
    return next(url, context);
  }`;
try {
  module.register(`data:text/javascript,${encodeURIComponent(hooks)}`);
} catch {}
try {
  module.registerHooks({ load: (url, context, next) => next(url, context) });
  module._load = () => ({});
  module._extensions['.js'] = () => {};
} catch {}
