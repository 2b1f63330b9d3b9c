/**
 * Milliseconds after which a wait counts as failed. No test depends on the figure: what is waited
 * for takes a few milliseconds or never comes, and this says when "never" may be said.
 */
export const PATIENCE_MS = 1_500;

/**
 * The promise's own result, or a rejection once patience runs out. With it a wrong program fails
 * its test with a sentence, instead of making it hang.
 *
 * @param what completes "waited in vain for ...", such as `the replica to see the first chunk`
 * @param ms milliseconds
 */
export async function within<T>(
  promise: Promise<T>,
  what: string,
  ms: number = PATIENCE_MS,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms} ms in vain for ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Asks again and again until the answer satisfies the condition, and resolves with it. When
 * patience runs out it resolves with the last answer, so that an assertion can show what is wrong
 * with it.
 *
 * @param ms milliseconds
 */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  holds: (value: T) => boolean,
  ms: number = PATIENCE_MS,
): Promise<T> {
  const start = performance.now();
  for (;;) {
    const value = await ask();
    if (holds(value) || performance.now() - start > ms) return value;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Something that happens once, and that others wait for. */
export interface Gate<T = void> {
  /** Resolves when the gate is opened, at once if it is open. */
  readonly opened: Promise<T>;
  /** Opens it. A second call changes nothing. */
  open(value: T): void;
}

/** A gate that is closed. */
export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
