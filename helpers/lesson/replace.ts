/** A function of a module of Node, whatever its parameters. */
export type Func = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Puts a function in the place of a method and makes it look the same: name, number of parameters,
 * and what `util.promisify` finds on it. Does nothing where this version of Node has no such method.
 *
 * @param make gets the original and returns what takes its place
 */
export function replace(target: object, name: string, make: (original: Func) => Func): void {
  const owner = target as Record<string, Func>;
  const original = owner[name];
  if (typeof original !== 'function') return;
  const made = make(original);
  const { prototype: _, ...properties } = Object.getOwnPropertyDescriptors(original);
  Object.defineProperties(made, properties);
  owner[name] = made;
}
