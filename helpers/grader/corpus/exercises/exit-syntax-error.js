// Tries: nothing. It isn't JavaScript.
// Must: count no test of the lesson, and grade the other one.

export function viewCost( { return ] }
