import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseInput, userTurnLine } from '../src/claude-input.ts';

test('a turn is read as it was written, whatever it says', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.option(fc.uuid(), { nil: undefined }), (text, uuid) => {
      const line = userTurnLine(text, uuid);
      expect(line.indexOf('\n')).toBe(line.length - 1);
      expect(parseInput(line)).toEqual({ turn: { text, uuid: uuid ?? null } });
    }),
  );
});

test('a turn may be a list of blocks, of which the texts count', () => {
  const content = [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }];
  expect(parseInput(JSON.stringify({ type: 'user', message: { content } }))).toEqual({
    turn: { text: 'a\nb', uuid: null },
  });
});

test('a control request is read', () => {
  const line = JSON.stringify({ type: 'control_request', request_id: 'r', request: { subtype: 'interrupt' } });
  expect(parseInput(`  ${line}`)).toEqual({ control: { requestId: 'r', subtype: 'interrupt' } });
  expect(parseInput('{"type":"control_request"}')).toEqual({ control: { requestId: '', subtype: '' } });
});

test.each([
  ['', 'no JSON object'],
  ['[1]', 'no JSON object'],
  ['{"type":"user"', 'no JSON object'],
  ['{"type":"assistant"}', 'neither "user" nor'],
  ['{"__proto__":{"type":"user"}}', 'neither "user" nor'],
  ['{"type":"user"}', 'neither text nor a list'],
  ['{"type":"user","message":{"content":[{"type":"image"}]}}', 'no text block'],
  ['{"type":"user","message":{"content":[{"type":"text","text":1}]}}', 'has no text'],
  ['['.repeat(100_000), 'no JSON object'],
])('%.60s is refused', (line, reason) => {
  expect(parseInput(line)).toEqual({ refused: expect.stringContaining(reason) as string });
});
