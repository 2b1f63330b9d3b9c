// Tries: to have fetch, URL and streams answer whatever is asked.
// Must: give no point for it.

const response = { ok: true, status: 200, text: async () => '', json: async () => ({}) };
try {
  globalThis.fetch = async () => response;
  globalThis.Response = function Forged() {
    return response;
  };
  globalThis.URL = function Forged() {
    return { pathname: '/' };
  };
} catch {}
