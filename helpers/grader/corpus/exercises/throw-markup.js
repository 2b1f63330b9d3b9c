// Tries: to break out of the report with its message: XML, CSV, terminal and workflow commands.
// Must: write files that can be parsed, with the message as text.

export function mixEffect() {
  throw new Error(
    ']]></failure></testcase><testcase name="all" /><!--\u0000\u001b[2J\u001b]0;owned\u0007\n' +
      '::set-output name=points::159\n::error::owned\n=HYPERLINK("http://127.0.0.1")\r\n\ud800',
  );
}
