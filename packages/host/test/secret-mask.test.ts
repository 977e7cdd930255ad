import { describe, expect, test } from 'vitest';
import { createSecretMask, redactText } from '../src/secret-mask.ts';

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

  test('the lines of a secret are masked one by one, also as they read within JSON', () => {
    const key = '-----BEGIN KEY-----\nabc"def\\ghi\n-----END KEY-----';
    const shown = redactText(JSON.stringify({ key }), [key]);
    expect(shown).not.toContain('BEGIN KEY');
    expect(shown).not.toContain('def');
    expect(redactText(key, [key])).toBe(`${'*'.repeat(19)}\n${'*'.repeat(11)}\n${'*'.repeat(17)}`);
  });

  test('what is shorter than eight bytes is left alone', () => {
    expect(redactText('the key 1234567', ['1234567', '', ' \n '])).toBe('the key 1234567');
    expect(createSecretMask(['1234567', ''])).toBeNull();
  });

  test('a replacement pattern in a secret means nothing', () => {
    expect(redactText("x $&$&$&$&'$ y", ["$&$&$&$&'$"])).toBe(`x ${'*'.repeat(10)} y`);
  });
});

describe('in bytes', () => {
  const find = (secrets: string[], text: string) => createSecretMask(secrets)?.find(Buffer.from(text));
  const unfinished = (secrets: string[], text: string) => createSecretMask(secrets)?.unfinishedFrom(Buffer.from(text));

  test('places are found in order, and those that touch or overlap are one', () => {
    expect(find([secret, 'password'], `password ${secret}`)).toEqual([
      { start: 0, end: 8 },
      { start: 9, end: 26 },
    ]);
    expect(find(['abcdefgh', 'efghijkl'], 'abcdefghijkl')).toEqual([{ start: 0, end: 12 }]);
    expect(find(['abababab'], 'ababababab')).toEqual([{ start: 0, end: 10 }]);
    expect(find([secret], '')).toEqual([]);
  });

  test('the beginning of a secret at the end is found, the earliest of several', () => {
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
