import type { OutputFormat } from '@pawl/core/port/provider';
import { statusOf } from '@pawl/core/runtime/agent-status';
import { liveState } from '@pawl/core/sessions/live';
import type { LiveState } from '@pawl/schema/status';
import { streamEventSchema } from '@pawl/schema/stream-event';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { outputParsers } from '../../src/parser.ts';
import { renderEvent } from './render.ts';

/**
 * What the real CLIs printed against a scripted model, without paths and long lists, and beside each what it means to us.
 * `.events` files were read by a person: a change of one is a change of behaviour.
 */
const samples = join(import.meta.dirname, 'sample');
const formats = readdirSync(samples) as OutputFormat[];

const cases = formats.flatMap((format) =>
  readdirSync(join(samples, format))
    .filter((name) => name.endsWith('.jsonl'))
    .map((name): [OutputFormat, string] => [format, name.slice(0, -'.jsonl'.length)]),
);

function linesOf(format: OutputFormat, name: string): string[] {
  return readFileSync(join(samples, format, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
}

test('there are samples of every structured format', () => {
  const structured = Object.keys(outputParsers).filter((format) => format !== 'text');
  expect([...formats].sort()).toEqual(structured.sort());
  // Continue prints its last words only, and errors on stderr.
  for (const format of formats.filter((each) => each !== 'continue-json'))
    expect(cases.filter(([of]) => of === format).map(([, name]) => name)).toEqual(
      expect.arrayContaining(['text', 'tool', 'auth', 'failed-tool']),
    );
});

test.each(cases)('%s: %s has the expected events', (format, name) => {
  const events = linesOf(format, name).flatMap(outputParsers[format].parse);
  for (const event of events) expect(streamEventSchema.safeParse(event).error).toBeUndefined();
  // Some formats name the session in every line.
  const said = events
    .map(renderEvent)
    .filter((line, at, all) => !line.startsWith('session ') || all.indexOf(line) === at);
  expect(`${said.join('\n')}\n`).toBe(readFileSync(join(samples, format, `${name}.events`), 'utf8'));
});

test.each(cases)('%s: %s is found without parsing', (format, name) => {
  const { parse, telling, conversation } = outputParsers[format];
  for (const line of linesOf(format, name)) {
    const events = parse(line);
    const types = new Set(events.map(({ type }) => type));
    const needs = (texts: string[]) =>
      expect(
        texts.filter((text) => line.includes(text)),
        line,
      ).not.toEqual([]);
    if (types.has('usage') || types.has('limit') || types.has('result')) needs(telling);
    if (
      ['text', 'text-delta', 'thinking', 'echo', 'tool-call', 'tool-result'].some((type) => types.has(type as 'text'))
    )
      needs(conversation);
    // An echo of our input is a fact, not only a message.
    if (events.some((event) => event.type === 'echo' && event.uuid !== undefined)) needs(telling);
  }
});

describe('over a whole turn', () => {
  const turns = cases.filter(([, name]) => /(?:^|-)(?:text|tool|resume|deltas|failed-tool)$/.test(name));

  test.each(turns)('%s: %s: each result belongs to a call, and the turn ends well', (format, name) => {
    const events = linesOf(format, name).flatMap(outputParsers[format].parse);
    const calls = events.flatMap((event) => (event.type === 'tool-call' ? [event.id] : []));
    const results = events.flatMap((event) => (event.type === 'tool-result' ? [event.id] : []));
    expect(new Set(calls).size).toBe(calls.length);
    expect(calls).not.toContain('');
    expect([...results].sort()).toEqual([...calls].sort());
    expect(events.findLast(({ type }) => type === 'result')).toMatchObject({ ok: true, fault: null });
  });
});

test.each(cases.filter(([, name]) => name === 'tool'))(
  '%s: a tool call has a status of its own, and its end is idle [S2-19]',
  (format, name) => {
    let live: LiveState | undefined;
    const statuses = linesOf(format, name)
      .flatMap(outputParsers[format].parse)
      .flatMap((event) => {
        const next = liveState(event, live);
        live = next ?? live;
        return next === null ? [] : [statusOf(next)];
      });
    expect(statuses).toContainEqual(
      expect.objectContaining({ status: 'calling_tool', detail: expect.stringMatching(/^Calling \w+/) }),
    );
    expect(statuses.at(-1)).toEqual({ status: 'idle', detail: 'Idle' });
  },
);
