// Tries: nothing, or to use up the time of the class: every answer is a promise that never settles.
// Must: end it by the limit of the whole file, and keep what was proved before.
// Earns: 14.1

export const createClientEdges = (_services, clients) =>
  new Map(['wrong', ...clients.map(({ name }) => name)].map((name) => [name, () => {}]));
