import * as fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { shellWord } from '@pawl/schema/shell-word';
import { expect, test } from 'vitest';
import { parseCommand } from '../../src/rules/shell-words.ts';

function wordsOf(text: string): string[][] {
  return parseCommand(text).commands.map((words) => words.map((word) => word.text));
}

test.each([
  ['npm test', [['npm', 'test']]],
  ['  npm \t test  ', [['npm', 'test']]],
  [`git commit -m 'a b' "c d" e\\ f`, [['git', 'commit', '-m', 'a b', 'c d', 'e f']]],
  [`n''p"m" te\\st`, [['npm', 'test']]],
  [`echo "a\\"b\\\\c\\d" ''`, [['echo', 'a"b\\c\\d', '']]],
  [
    'npm test && git status',
    [
      ['npm', 'test'],
      ['git', 'status'],
    ],
  ],
  ['git show HEAD~1:src/a.ts', [['git', 'show', 'HEAD~1:src/a.ts']]],
])('%s is parsed into plain words', (text, words) => {
  expect(wordsOf(text)).toEqual(words);
  const { obstacle, broken, commands } = parseCommand(text);
  expect({ obstacle, broken, expands: commands.flat().some(({ expands }) => expands) }).toEqual({
    obstacle: null,
    broken: false,
    expands: false,
  });
});

test.each([
  ['a; rm x', 'rm'],
  ['a | rm x', 'rm'],
  ['a || rm x', 'rm'],
  ['a & rm x', 'rm'],
  ['a\nrm x', 'rm'],
  ['(rm x)', 'rm'],
  ['a $(rm x)', 'rm'],
  ['a "$(rm x)"', 'rm'],
  ['a `rm x`', 'rm'],
  ['a "`rm x`"', 'rm'],
  ['a `b \\`rm x\\``', 'rm'],
  ['a <(rm x)', 'rm'],
  ['a >(rm x)', 'rm'],
  ['a ${b:-$(rm x)}', 'rm'],
  ['>out rm x', 'rm'],
  ['2>out rm x', 'rm'],
  ['a $(b "$(rm x)")', 'rm'],
  ['r$@m x', 'rm'],
  [`r$''m x`, 'rm'],
])('the command in %j is found, and no allow rule may match', (text, name) => {
  expect(wordsOf(text).map(([first]) => first)).toContain(name);
  expect(parseCommand(text).obstacle).not.toBeNull();
});

test.each(['a "b', "a 'b", 'a $(b', 'a `b', 'a \\', 'a ${b', '$('.repeat(1000), '`'.repeat(999)])(
  'the unfinished command %j is broken',
  (text) => {
    expect(parseCommand(text)).toMatchObject({ broken: true });
    expect(parseCommand(text).obstacle).not.toBeNull();
  },
);

test('any words, quoted, are parsed into the same words', () => {
  const visible = fc
    .string({ unit: fc.constantFrom(...'ab 1*?$`"\'\\;&|<>(){}[]~#!=é'.split('')) })
    .filter((text) => !text.endsWith('\\'));
  fc.assert(
    fc.property(fc.array(visible, { minLength: 1, maxLength: 6 }), (words) => {
      const quoted = words.map((word) => (word === '' ? "''" : shellWord(word))).join(' ');
      fc.pre(!words.some((word) => word.includes("\\'")));
      const { obstacle, commands } = parseCommand(quoted);
      const startsWithEquals = words.some((word) => word.startsWith('='));
      expect(startsWithEquals ? null : obstacle).toBeNull();
      expect(commands.map((each) => each.map(({ text }) => text))).toEqual([words]);
    }),
  );
});

test('parsing any text ends, and throws nothing', () => {
  const nasty = fc.string({ unit: fc.constantFrom(...'a $(`)"\'\\;&|<>{}*~#\n\0\u200b'.split('')), maxLength: 200 });
  fc.assert(
    fc.property(nasty, (text) => void parseCommand(text)),
    { numRuns: 2_000 },
  );
});

const shells = ['/bin/bash', '/bin/dash', '/bin/sh', '/bin/zsh'].filter((shell) => existsSync(shell));

test.each(shells)('%s splits plain commands into the same words', (shell) => {
  const pieces = [
    'a',
    'b-',
    ' ',
    ' ',
    '\t',
    "'",
    "'",
    '"',
    '"',
    '\\',
    '$',
    '$(',
    ')',
    '`',
    ';',
    '&&',
    '|',
    '>',
    '*',
    '?',
  ].concat(['~', '=', '#', '!', '{', ',', '}', '[', ']', '^', 'é', ':', '%', '\n']);
  const texts = fc
    .sample(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 7 }), { numRuns: 30_000, seed: 7 })
    .map((parts) => parts.join(''));
  const plain = [...new Set(texts)].flatMap((text) => {
    const { obstacle, commands } = parseCommand(text);
    const isPlain = obstacle === null && commands.length === 1;
    const words = commands[0] ?? [];
    return isPlain && words.every(({ stars }) => stars.length === 0)
      ? [{ text, words: words.map((each) => each.text) }]
      : [];
  });
  expect(plain.length).toBeGreaterThan(500);
  const script = plain.map(({ text }) => `printf '%s\\0' ${text}; printf '\\001\\0'`).join('\n');
  const output = execFileSync(shell, {
    input: script,
    env: { LC_ALL: 'C.UTF-8' },
    maxBuffer: 64 * 1024 * 1024,
  }).toString();
  const seen = output
    .split('\x01\0')
    .slice(0, -1)
    .map((part) => part.split('\0').slice(0, -1));
  expect(seen).toEqual(plain.map(({ words }) => words));
});
