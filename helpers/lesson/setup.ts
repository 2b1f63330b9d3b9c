// Every test file starts with this, in this order: the guards go first, so that nothing the lesson
// or an exercise imports can open a connection or a timer that they haven't seen.
import './published.ts';
