import type { OutputFormat } from '@pawl/core/port/provider';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { streamEventSchema } from '@pawl/schema/stream-event';
import * as fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { outputParsers } from '../../src/parser.ts';

/** Any text: also with control characters, and with halves of characters that mean nothing alone. */
const anyText = fc.oneof(
  fc.string(),
  fc.array(fc.nat(0xffff), { maxLength: 60 }).map((codes) => String.fromCharCode(...codes)),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
);

const samples = join(import.meta.dirname, 'sample');
const formats = Object.keys(outputParsers) as OutputFormat[];
const structured = formats.filter((format) => format !== 'text');

/** Every kind of line in a format's samples. */
function sampleLines(format: OutputFormat): string[] {
  const lines = readdirSync(join(samples, format))
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) =>
      readFileSync(join(samples, format, name), 'utf8')
        .trimEnd()
        .split('\n'),
    );
  return [
    ...new Map(
      lines.map((line) => [
        JSON.stringify(outputParsers[format].parse(line).map(({ type }) => type)) + line.slice(0, 60),
        line,
      ]),
    ).values(),
  ];
}

const told = new Set<StreamEvent['type']>(['usage', 'limit', 'result']);
const conversational = new Set<StreamEvent['type']>([
  'text',
  'text-delta',
  'thinking',
  'echo',
  'tool-call',
  'tool-result',
]);

/** Parses a line, and checks the invariants of any line. */
function checked(format: OutputFormat, line: string): StreamEvent[] {
  const { parse, telling, conversation } = outputParsers[format];
  const events = parse(line);
  for (const event of events) {
    expect(streamEventSchema.safeParse(event).error).toBeUndefined();
    if (event.type === 'session') expect(event.providerSessionId).toMatch(/^[A-Za-z0-9][\w.:-]{0,199}$/);
    if (format === 'text') continue;
    if (told.has(event.type)) expect(telling.some((text) => line.includes(text))).toBe(true);
    if (conversational.has(event.type)) expect(conversation.some((text) => line.includes(text))).toBe(true);
  }
  expect(parse(line)).toEqual(events);
  return events;
}

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(-1, 1e308, 2 ** 60, '__proto__', '\ud800', '--option', '\u001b[2J', {}, [[[]]]),
);

/** Puts a value at a place that is chosen by a walk through what is there. */
function replaced(value: unknown, walk: number[], put: unknown): unknown {
  const [step, ...rest] = walk;
  if (step === undefined || value === null || typeof value !== 'object') return put;
  const keys = Object.keys(value);
  const key = keys[step % Math.max(1, keys.length)];
  if (key === undefined) return put;
  if (Array.isArray(value)) return value.map((item, at) => (String(at) === key ? replaced(item, rest, put) : item));
  return { ...value, [key]: replaced((value as Record<string, unknown>)[key], rest, put) };
}

describe.each(formats)('%s: any line [S3-05]', (format) => {
  const nearlyReal =
    format === 'text'
      ? fc.string()
      : fc
          .tuple(
            fc.constantFrom(...sampleLines(format)),
            fc.array(fc.nat(40), { minLength: 1, maxLength: 6 }),
            anyValue,
          )
          .map(([line, walk, put]) => JSON.stringify(replaced(JSON.parse(line), walk, put)));
  const cut =
    format === 'text'
      ? fc.string()
      : fc.tuple(fc.constantFrom(...sampleLines(format)), fc.nat(4_000)).map(([line, at]) => line.slice(0, at));

  test.each<[string, fc.Arbitrary<string>]>([
    ['any text', anyText],
    ['any JSON', fc.json()],
    ['a real line with anything anywhere', nearlyReal],
    ['a real line that is cut', cut],
  ])('%s gives the same valid events each time, found by their texts, and never throws', (_name, lines) => {
    fc.assert(
      fc.property(lines, (line) => {
        checked(format, line);
      }),
      { numRuns: 200 },
    );
  });

  test('a line that is not a JSON object is kept unchanged', () => {
    for (const line of ['', 'plain text', '{"type":"result"', '[{"type":"result"}]', 'null', '"result"', '\u001b[2J\0'])
      expect(outputParsers[format].parse(line)).toEqual([{ type: format === 'text' ? 'text' : 'unknown', text: line }]);
  });
});

describe.each(structured)('%s: hostile JSON', (format) => {
  const types = [...new Set(sampleLines(format).map((line) => String((JSON.parse(line) as { type: unknown }).type)))];

  test('nested a million deep, and less deep in every place', () => {
    const deep = '['.repeat(1_000_000) + ']'.repeat(1_000_000);
    expect(() => outputParsers[format].parse(`{"type":"${types[0]}","message":${deep}}`)).not.toThrow();
    const less = '{"a":'.repeat(5_000) + '1' + '}'.repeat(5_000);
    const keys = ['message', 'item', 'part', 'data', 'event', 'error', 'usage', 'parameters', 'messages', 'stats'];
    const rest = keys.map((key) => `"${key}":${less}`).join(',');
    for (const type of types) checked(format, `{"type":"${type}",${rest}}`);
  });

  test('prototype keys, duplicate keys, lone surrogates and huge numbers', () => {
    for (const type of types) {
      checked(format, `{"__proto__":{"type":"${type}"},"type":"x"}`);
      checked(format, `{"type":"x","type":"${type}","constructor":{"prototype":{"polluted":1}}}`);
      checked(
        format,
        `{"type":"${type}","message":{"__proto__":{"content":"evil","role":"assistant"}},"data":"\\ud800"}`,
      );
      const numbers = '{"input_tokens":1e999,"output_tokens":-1e999,"input":1e308,"cost":{"total":1e308}}';
      const events = checked(format, `{"type":"${type}","usage":${numbers},"stats":${numbers},"num_turns":1e999}`);
      for (const event of events)
        if (event.type === 'usage')
          for (const value of Object.values(event)) if (typeof value === 'number') expect(value).toBeLessThan(1e13);
    }
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(({} as Record<string, unknown>)['content']).toBeUndefined();
  });

  test('text that looks like one of our lines is text', () => {
    const [line] = sampleLines(format).filter((each) =>
      outputParsers[format].parse(each).some(({ type }) => type === 'result'),
    );
    const quoted = JSON.stringify({ type: 'brand_new', text: line });
    expect(outputParsers[format].parse(quoted)).toEqual([{ type: 'unknown', text: quoted }]);
  });
});
