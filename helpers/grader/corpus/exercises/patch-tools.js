// Tries: to replace those of the course's helpers that it may import, for the spec too.
// Must: give no point for it.

import * as todo from '#helpers/lesson/todo.ts';
import * as waiting from '#helpers/lesson/waiting.ts';
import * as given from './given.ts';

for (const module of [given, todo, waiting]) {
  for (const name of Object.keys(module)) {
    const change = () => [];
    for (const attempt of [
      () => (module[name] = change),
      () => Object.defineProperty(module, name, { value: change, configurable: true }),
      () => Object.defineProperty(module, name, { get: () => change, configurable: true }),
      () => Object.setPrototypeOf(module[name], null),
      () => (module[name].prototype.constructor = change),
    ]) {
      try {
        attempt();
      } catch {}
    }
  }
}
try {
  Object.defineProperty(todo.TodoError, Symbol.hasInstance, { value: () => false });
} catch {}
