import { describe, expect, test } from 'vitest';
import { createSecretMask, redactText } from '../../src/output/secret-mask.ts';

const secret = 'sk-ant-0123456789';

describe('a text', () => {
  test.each([
    ['nothing here', 'nothing here'],
    [secret, '*'.repeat(17)],
    [`a ${secret}${secret} b`, `a ${'*'.repeat(34)} b`],
    [secret.slice(1), secret.slice(1)],
  ])('%j becomes %j', (text, expected) => {
    expect(redactText(text, [secret])).toBe(expected);
  });

  test('a secret that contains another is masked whole', () => {
    expect(redactText('abcdefgh-more', ['abcdefgh', 'abcdefgh-more'])).toBe('*'.repeat(13));
  });

  test('the lines of a secret are masked one by one, also inside JSON', () => {
    const key = '-----BEGIN KEY-----\nabc"def\\ghi\n-----END KEY-----';
    const shown = redactText(JSON.stringify({ key }), [key]);
    expect(shown).not.toContain('BEGIN KEY');
    expect(shown).not.toContain('def');
    expect(redactText(key, [key])).toBe(`${'*'.repeat(19)}\n${'*'.repeat(11)}\n${'*'.repeat(17)}`);
  });

  test('secrets shorter than eight bytes are ignored', () => {
    expect(redactText('the key 1234567', ['1234567', '', ' \n '])).toBe('the key 1234567');
    expect(createSecretMask(['1234567', ''])).toBeNull();
  });

  test('a replacement pattern in a secret has no effect', () => {
    expect(redactText("x $&$&$&$&'$ y", ["$&$&$&$&'$"])).toBe(`x ${'*'.repeat(10)} y`);
  });
});

/** Ways to hide something between two characters. */
const hiding: [string, string][] = [
  ['a colour', '\u001B[0m'],
  ['colours', '\u001B[1;38;5;12m\u001B[K'],
  ['an eight-bit sequence', '\u009B31m'],
  ['a title', '\u001B]0;a title\u0007'],
  ['a link', '\u001B]8;;https://example.com\u001B\\'],
  ['a device string', '\u001BPq#0\u001B\\'],
  ['a charset', '\u001B(B'],
  ['a zero-width space', '\u200B'],
  ['a joiner and a mark', '\u2060\uFEFF'],
  ['a soft hyphen', '\u00AD'],
  ['a direction', '\u202E\u202C'],
  ['a tag', '\u{E0041}'],
  ['a variation selector', '\uFE0F'],
  ['a NUL and a backspace', '\0\b'],
  ['a carriage return', '\r'],
];

describe.each(hiding)('a secret with %s inside', (_name, mark) => {
  const cuts = Array.from({ length: secret.length - 1 }, (_, index) => index + 1);
  const everywhere = secret.split('').join(mark);

  test('is masked whole in a text, anywhere', () => {
    for (const cut of cuts) {
      const hidden = secret.slice(0, cut) + mark + secret.slice(cut);
      expect(redactText(`a ${hidden} b`, [secret])).toBe(`a ${'*'.repeat(hidden.length)} b`);
    }
    expect(redactText(`${mark}${everywhere}${mark}`, [secret])).toBe(`${mark}${'*'.repeat(everywhere.length)}${mark}`);
  });

  test('is masked in bytes, also as JSON writes it, and within JSON', () => {
    for (const form of [
      everywhere,
      JSON.stringify(everywhere),
      JSON.stringify(JSON.stringify(everywhere)),
      asAscii(everywhere),
    ]) {
      const bytes = Buffer.from(`a ${form} b`);
      const places = createSecretMask([secret])?.find(bytes) ?? [];
      expect(places).toHaveLength(1);
      for (const { start, end } of places) bytes.fill('*', start, end);
      expect(bytes.toString().replaceAll(/[*"\\ab ]/g, '')).toBe('');
    }
  });

  test('is held back while it is incomplete', () => {
    for (const cut of cuts.filter((each) => each >= 8)) {
      const begun = Buffer.from(`xy${secret.slice(0, cut).split('').join(mark)}${mark}`);
      for (let missing = 0; missing < Buffer.byteLength(mark); missing++)
        expect(createSecretMask([secret])?.unfinishedFrom(begun.subarray(0, begun.length - missing))).toBe(2);
    }
  });
});

test('a secret inside of a title is masked, and the title stays', () => {
  expect(redactText(`\u001B]0;the key ${secret.slice(0, 9)}\u001B[1m${secret.slice(9)}\u0007`, [secret])).toBe(
    `\u001B]0;the key ${'*'.repeat(21)}\u0007`,
  );
});

test('escapes around ordinary text change nothing', () => {
  const text = '\u001B[32mok\u001B[0m \u200Bwords\r\n';
  expect(redactText(text, [secret])).toBe(text);
  expect(createSecretMask([secret])?.find(Buffer.from(text))).toEqual([]);
});

test('a hundred thousand unfinished escapes cost little', () => {
  for (const piece of ['\\', '\u001B]', '\u001B[1;', '\\u009d', '\u001B]a\\\\'])
    expect(createSecretMask([secret])?.find(Buffer.from(piece.repeat(100_000)))).toEqual([]);
});

/** JSON with everything but ASCII escaped, as some CLIs print it. */
function asAscii(text: string): string {
  return JSON.stringify(text).replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

describe('in bytes', () => {
  const find = (secrets: string[], text: string) => createSecretMask(secrets)?.find(Buffer.from(text));
  const unfinished = (secrets: string[], text: string) => createSecretMask(secrets)?.unfinishedFrom(Buffer.from(text));

  test('matches are found in order, and those that touch or overlap are merged', () => {
    expect(find([secret, 'password'], `password ${secret}`)).toEqual([
      { start: 0, end: 8 },
      { start: 9, end: 26 },
    ]);
    expect(find(['abcdefgh', 'efghijkl'], 'abcdefghijkl')).toEqual([{ start: 0, end: 12 }]);
    expect(find(['abababab'], 'ababababab')).toEqual([{ start: 0, end: 10 }]);
    expect(find([secret], '')).toEqual([]);
  });

  test('the start of a secret at the end is found, the earliest of several', () => {
    for (let length = 1; length < secret.length; length++) {
      expect(unfinished([secret], `xy${secret.slice(0, length)}`)).toBe(2);
    }
    expect(unfinished([secret], `xy${secret}`)).toBe(2 + 17);
    expect(unfinished(['aabaabaab-'], 'xaabaabaab')).toBe(1);
    expect(unfinished(['abcdefgh', 'xabcdefgh'], 'xabcdefgh')).toBe(9);
    expect(unfinished(['abcdefgh', 'xabcdefghi'], 'xabcdefgh')).toBe(0);
    expect(unfinished([secret], '')).toBe(0);
  });
});
