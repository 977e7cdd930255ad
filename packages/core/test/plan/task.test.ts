import type { ErrorCode } from '@pawl/schema/error';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { describe, expect, test } from 'vitest';
import { checkOptions, checkTask } from '../../src/plan/task.ts';
import { aPreset } from '../fixture.ts';

/** The error code, or null. */
function refusal(check: () => void): ErrorCode | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof PawlError) return error.code;
    throw error;
  }
}

describe('a task', () => {
  test.each<[string, string, ErrorCode | null]>([
    ['plain', 'fix the login test', null],
    ['of several lines', 'fix\n\tthe test\r\n', null],
    ['empty', '', 'invalid_input'],
    ['of white space', ' \n\t ', 'invalid_input'],
    ['with a NUL', 'fix\0it', 'invalid_input'],
    ['of exactly the limit', 'a'.repeat(limits.taskBytes), null],
    ['of one byte more', 'a'.repeat(limits.taskBytes + 1), 'too_large'],
    ['of exactly the limit in two-byte characters', 'é'.repeat(limits.taskBytes / 2), null],
    ['of fewer characters but more bytes', `${'é'.repeat(limits.taskBytes / 2)}a`, 'too_large'],
  ])('%s', (_name, task, code) => {
    expect(refusal(() => checkTask(task))).toBe(code);
  });

  test('a task that is too large is refused with both numbers and advice', () => {
    expect(() => checkTask('a'.repeat(limits.taskBytes + 1))).toThrow(
      expect.objectContaining({ message: expect.stringContaining('1048577'), hint: expect.stringContaining('file') }),
    );
  });
});

describe('options', () => {
  const request = (options: Record<string, string>, model: string | null = null) => ({ options, model });

  test.each<[string, Parameters<typeof checkOptions>, ErrorCode | null]>([
    ['none', [aPreset(), request({})], null],
    ['a known one', [aPreset(), request({ scenario: 'a.yaml' })], null],
    ['an unknown one', [aPreset(), request({ scenery: 'a.yaml' })], 'invalid_input'],
    ['one that every object has', [aPreset(), request({ constructor: 'x' })], 'invalid_input'],
    ['a prototype', [aPreset(), request(JSON.parse('{"__proto__":"x"}') as Record<string, string>)], 'invalid_input'],
    ['a model', [aPreset(), request({}, 'large')], null],
    ['a model where none can be chosen', [aPreset({ model: null }), request({}, 'large')], 'invalid_input'],
  ])('%s', (_name, [preset, asked], code) => {
    expect(refusal(() => checkOptions(preset, asked))).toBe(code);
  });

  test.each([
    [aPreset(), 'scenario'],
    [aPreset({ options: {} }), 'none'],
  ])('a refusal lists the known options', (preset, known) => {
    const hint = expect.stringContaining(known);
    expect(() => checkOptions(preset, request({ scenery: 'x' }))).toThrow(expect.objectContaining({ hint }));
  });
});
