// Every test file starts with this, in this order: the guards go first, so that nothing the lesson
// or an exercise imports can open a connection or a timer that they haven't seen.

import { guardLeaks } from './leak-guard.ts';
import { guardLoopback } from './loopback-guard.ts';
import './published.ts';

// Shared workers load the guards once, but every file needs their hooks.
guardLoopback();
guardLeaks();
