import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeId, idSchema, nameSchema, newId } from '../src/id.ts';

describe('ids', () => {
  test('10,000 are unique, 22 characters each, and never start with - or _', () => {
    const ids = Array.from({ length: 10_000 }, newId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9][A-Za-z0-9_-]{21}$/);
    expect(ids.every((id) => idSchema.safeParse(id).success)).toBe(true);
  });

  test('a fresh one is a UUID of version 4', () => {
    const bytes = Buffer.from(newId(), 'base64url');
    expect((bytes[6] ?? 0) >> 4).toBe(4);
    expect((bytes[8] ?? 0) >> 6).toBe(2);
  });

  test('the 16 bytes come back from the 22 characters', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        const id = encodeId(bytes);
        expect(id).toHaveLength(22);
        expect(new Uint8Array(Buffer.from(id, 'base64url'))).toEqual(bytes);
      }),
    );
  });

  test.each([0, 15, 17])('%i bytes are not an id', (length) => {
    expect(() => encodeId(new Uint8Array(length))).toThrow(RangeError);
  });

  test.each([
    '',
    'a'.repeat(21),
    'a'.repeat(23),
    `-${'a'.repeat(21)}`,
    `_${'a'.repeat(21)}`,
    `${'a'.repeat(21)}/`,
    `${'a'.repeat(22)}\n`,
  ])('%j is refused', (text) => {
    expect(idSchema.safeParse(text).success).toBe(false);
  });
});

describe('names', () => {
  test.each(['a', '0', 'brave-otter', 'brave-otter-2', 'a.b_c-d', 'con', 'a'.repeat(64)])('%j is one', (name) => {
    expect(nameSchema.safeParse(name).success).toBe(true);
  });

  test.each([
    ['empty', ''],
    ['too long', 'a'.repeat(65)],
    ['much too long', 'a'.repeat(300)],
    ['a parent directory', '../x'],
    ['a parent directory alone', '..'],
    ['two dots inside', 'a..b'],
    ['a slash', 'a/b'],
    ['a backslash', 'a\\b'],
    ['an option', '-x'],
    ['an option of git', '--upload-pack=touch'],
    ['a hidden file', '.git'],
    ['a dot at the end', 'a.'],
    ['a lock of git', 'a.lock'],
    ['a NUL', 'a\0b'],
    ['a newline', 'a\nb'],
    ['a newline at the end', 'a\n'],
    ['a space', 'a b'],
    ['a command', '$(touch x)'],
    ['a backtick', '`x`'],
    ['upper case', 'Brave-otter'],
    ['a Cyrillic look-alike', 'brаve-otter'],
    ['a full-width look-alike', 'ａbc'],
    ['a dotless i', 'ıd'],
    ['a combining mark', 'a\u0301'],
    ['an underscore at the start', '_a'],
    ['a colon', 'a:b'],
    ['a reference of git', 'a@{1}'],
    ['a wildcard', 'a*'],
    ['an escape sequence', 'a\u001B[2J'],
  ])('%s is refused', (_name, text) => {
    expect(nameSchema.safeParse(text).success).toBe(false);
  });

  test('every accepted name is one word of the alphabet', () => {
    const near = fc.string({
      unit: fc.constantFrom('a', '0', '.', '-', '_', '/', '\n', '\0', 'A', 'é'),
      maxLength: 70,
    });
    fc.assert(
      fc.property(fc.oneof(near, fc.string({ unit: 'binary' })), (text) => {
        if (!nameSchema.safeParse(text).success) return;
        expect(text).toMatch(/^[a-z0-9][a-z0-9._-]{0,63}$/);
        expect(text).not.toMatch(/\.\.|\.$|\.lock$|\n/);
      }),
      { numRuns: 2_000 },
    );
  });
});
