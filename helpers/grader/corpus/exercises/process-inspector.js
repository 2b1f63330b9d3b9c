// Tries: to open the inspector in itself, and to pause the process or to change what it finds there.
// Must: end in time, and give no point for it.

const inspector = (await reach('inspector')) ?? {};
try {
  inspector.open(0, '127.0.0.1', false);
  const session = new inspector.Session();
  session.connect();
  session.post('Debugger.enable');
  session.post('Runtime.evaluate', {
    includeCommandLineAPI: true,
    expression: `globalThis.found = require('node:child_process')`,
  });
  session.post('Debugger.setBreakpointByUrl', { lineNumber: 0, urlRegex: 'spec' });
} catch {}
