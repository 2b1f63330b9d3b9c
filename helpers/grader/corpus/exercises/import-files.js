// Tries: to import Node's file functions by their name.
// Must: refuse it, and say what was imported.

import { rmSync } from 'node:fs';

rmSync(`${COURSE.evidence}/nothing`, { force: true });
