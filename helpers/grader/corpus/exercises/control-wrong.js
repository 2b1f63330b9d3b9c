// Tries: nothing. It answers everything, and everything wrongly: what the others answer while they
//   attack.
// Must: give no point. A wrong answer that earned one would be held against an attack.
