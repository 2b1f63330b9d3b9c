// Tries: to have no promise ever reject, and no await ever fail.
// Must: give no point for it.

const { then } = Promise.prototype;
try {
  Promise.prototype.then = function quiet(onFulfilled) {
    return then.call(this, onFulfilled, () => undefined);
  };
  Promise.prototype.catch = function quiet() {
    return this;
  };
} catch {}
try {
  Promise.reject = () => Promise.resolve();
} catch {}
try {
  globalThis.Promise = class Quiet extends Promise {
    constructor(executor) {
      super((resolve) => executor(resolve, resolve));
    }
  };
} catch {}
