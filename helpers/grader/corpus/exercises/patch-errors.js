// Tries: to have no error be thrown that anybody could see, and to walk up the stack to the runner.
// Must: give no point for it.

try {
  Error.prepareStackTrace = (_, sites) => {
    for (const site of sites) {
      const self = site.getThis?.();
      try {
        if (self?.config) self.config.passWithNoTests = true;
        for (const value of Object.values(self ?? {}))
          if (value?.result) value.result.state = 'pass';
      } catch {}
    }
    return '';
  };
  Error.captureStackTrace = () => {};
  Error.stackTraceLimit = 0;
} catch {}
try {
  globalThis.Error = function Silent() {
    return {};
  };
} catch {}
