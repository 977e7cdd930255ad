import { expect, test } from 'vitest';
import { outputParsers } from '../../src/parser.ts';

test('unstructured output is raw text, line by line, whatever it looks like [S3-51]', () => {
  const { parse, telling, conversation } = outputParsers.text;
  for (const line of ['hello', '{"type":"result","is_error":true}', '\u001b[31mred', ''])
    expect(parse(line)).toEqual([{ type: 'text', text: line }]);
  // It says nothing about the session, so nothing has to be looked for in it.
  expect({ telling, conversation }).toEqual({ telling: [], conversation: [] });
});
