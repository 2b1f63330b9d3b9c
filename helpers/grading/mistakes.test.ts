import { describe, expect, it } from 'vitest';
import { makeMistake } from './mistakes.ts';

const source = 'const sum = a + b;\nreturn sum;\n';

describe('makeMistake', () => {
  it('replaces the text, and nothing else', () => {
    const mistake = { replace: 'a + b', by: 'a - b', caughtBy: 'adds' };
    expect(makeMistake(source, mistake)).toBe('const sum = a - b;\nreturn sum;\n');
  });

  it('replaces in several places when the mistake has several', () => {
    const mistake = {
      replace: 'a + b',
      by: 'a',
      also: [{ replace: 'return sum', by: 'return sum + b' }],
      caughtBy: 'adds',
    };
    expect(makeMistake(source, mistake)).toBe('const sum = a;\nreturn sum + b;\n');
  });

  it('finds a text of several lines in a checkout with CRLF', () => {
    const mistake = { replace: 'a + b;\nreturn', by: 'a;\nreturn', caughtBy: 'adds' };
    expect(makeMistake(source.replaceAll('\n', '\r\n'), mistake)).toBe(
      'const sum = a;\nreturn sum;\n',
    );
  });

  it('takes dollar signs literally', () => {
    const mistake = { replace: 'a + b', by: "'$&'", caughtBy: 'adds' };
    expect(makeMistake(source, mistake)).toContain("const sum = '$&';");
  });

  it.for(['a * b', 'sum'])('refuses a text that does not stand there exactly once: %s', (text) => {
    const mistake = { replace: text, by: '0', caughtBy: 'adds' };
    expect(() => makeMistake(source, mistake)).toThrow(text);
  });
});
