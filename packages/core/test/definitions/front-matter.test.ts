import { expect, test } from 'vitest';
import { definitionLimits } from '../../src/definitions/definition-limit.ts';
import { quoteColons, splitFrontMatter } from '../../src/definitions/front-matter.ts';

test('the front matter keeps its lines, and the body is what follows', () => {
  expect(splitFrontMatter('---\nname: a\nkind: main\n---\n\nDo it.\n---\nAnd that.\n')).toEqual({
    ok: true,
    yaml: '\nname: a\nkind: main',
    body: 'Do it.\n---\nAnd that.',
  });
});

test('a byte order mark, Windows line endings and spaces after the dashes do not matter', () => {
  const split = splitFrontMatter('\uFEFF--- \r\nname: a\r\n---\t\r\nDo it.\r\nNow.\r\n');
  expect(split).toEqual({ ok: true, yaml: '\nname: a', body: 'Do it.\nNow.' });
});

test('fields and body are both optional', () => {
  expect(splitFrontMatter('---\n---')).toEqual({ ok: true, yaml: '', body: '' });
});

test.each([
  ['', 1, 'empty'],
  [' \n \n', 1, 'empty'],
  ['# Title\n', 1, 'does not start with'],
  ['----\nname: a\n----\n', 1, 'does not start with'],
  ['\n---\nname: a\n---\n', 1, 'does not start with'],
  ['---\nname: a\n', 1, 'no closing'],
  ['---', 1, 'no closing'],
  ['---\nname: a\n---\nbo\0dy', 4, 'NUL'],
  [`---\n---\n${'x'.repeat(definitionLimits.fileBytes)}`, 1, 'more than 262144 bytes'],
  [`---\na: ${'x'.repeat(definitionLimits.frontMatterBytes)}\n---\n`, 1, 'more than 16384 characters'],
])('%j is not a definition [W2-01]', (text, line, reason) => {
  expect(splitFrontMatter(text)).toMatchObject({ ok: false, line, reason: expect.stringContaining(reason) as string });
});

test('only plain values with a colon get quotes', () => {
  const lines = [
    'name: a',
    'description: Use it: "now"',
    'tools: [a, b:c]',
    "other: 'x: y'",
    '  inner: a: b',
    'url: http://x',
  ];
  expect(quoteColons(lines.join('\n')).split('\n')).toEqual([
    'name: a',
    'description: "Use it: \\"now\\""',
    'tools: [a, b:c]',
    "other: 'x: y'",
    '  inner: a: b',
    'url: "http://x"',
  ]);
});
