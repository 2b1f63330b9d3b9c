// Tries: to read what Vite hands to a module: variables of .env files, and its own folder's files.
// Must: refuse it, or give no point.

const secrets = { ...import.meta.env, ...import.meta };
export const viewCost = () => aPointIf(Object.values(secrets).includes(COURSE.secret));
