import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Signal } from '../src/signal.ts';
import { parseSignal } from '../src/signal.ts';

describe('signals [S3-30]', () => {
  test.each<[string, string, Signal]>([
    ['done', '{"status":"done"}', { status: 'done' }],
    ['done with a result', '{"status":"done","result":"ok"}', { status: 'done', result: 'ok' }],
    ['white space and unknown keys', ' {"note":1,"status":"done"}\n', { status: 'done' }],
    ['an error', '{"status":"error","error":"why"}', { status: 'error', error: 'why' }],
    ['an error without words', '{"status":"error"}', { status: 'error' }],
    [
      'questions as strings and objects',
      '{"status":"questions","questions":["A?",{"question":"B?"},{"id":"c","question":"C?"}]}',
      {
        status: 'questions',
        questions: [
          { id: '', question: 'A?' },
          { id: '', question: 'B?' },
          { id: 'c', question: 'C?' },
        ],
      },
    ],
  ])('%s', (_name, text, signal) => {
    expect(parseSignal(text)).toEqual({ ok: true, signal });
  });

  test('a hundred questions are the maximum', () => {
    const text = (count: number) => JSON.stringify({ status: 'questions', questions: Array(count).fill('Why?') });
    expect(parseSignal(text(100)).ok).toBe(true);
    expect(parseSignal(text(101)).ok).toBe(false);
  });
});

describe('invalid signals', () => {
  test.each([
    ['nothing', ''],
    ['half of one', '{"status":"do'],
    ['null', 'null'],
    ['a string', '"done"'],
    ['an array', '[{"status":"done"}]'],
    ['no status', '{"result":"ok"}'],
    ['another status', '{"status":"finished"}'],
    ['a status of another type', '{"status":true}'],
    ['a status in upper case', '{"status":"DONE"}'],
    ['an inherited status', '{"__proto__":{"status":"done"}}'],
    ['a result of another type', '{"status":"done","result":{"a":1}}'],
    ['an error of another type', '{"status":"error","error":5}'],
    ['no questions', '{"status":"questions"}'],
    ['an empty list of questions', '{"status":"questions","questions":[]}'],
    ['a question of another type', '{"status":"questions","questions":[5]}'],
    ['an id of another type', '{"status":"questions","questions":[{"id":5,"question":"A?"}]}'],
  ])('%s', (_name, text) => {
    const parsed = parseSignal(text);
    expect(parsed.ok).toBe(false);
    expect('reason' in parsed && parsed.reason).toMatch(/./);
  });

  test('the reason stays short however huge the file is', () => {
    const huge = JSON.stringify({ status: 'questions', questions: Array(50_000).fill(5) });
    const parsed = parseSignal(huge);
    expect('reason' in parsed && parsed.reason.length).toBeLessThanOrEqual(500);
  });

  test('10,000 levels of JSON', () => {
    const deep = '['.repeat(10_000) + ']'.repeat(10_000);
    expect(parseSignal(`{"status":"done","result":${deep}}`).ok).toBe(false);
    expect(parseSignal(`{"status":"done","note":${deep}}`).ok).toBe(true);
  });

  test('no text makes it throw', () => {
    const almost = fc.record({
      status: fc.constantFrom('done', 'questions', 'error'),
      questions: fc.jsonValue(),
      result: fc.jsonValue(),
    });
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          almost.map((value) => JSON.stringify(value)),
        ),
        (text) => {
          expect(typeof parseSignal(text).ok).toBe('boolean');
        },
      ),
      { numRuns: 500 },
    );
  });
});
