import type { AgentView } from '@pawl/protocol/agents/view';
import { describe, expect, test } from 'vitest';
import {
  activityOf,
  changeOf,
  costOf,
  bytes,
  clockTime,
  count,
  duration,
  names,
  runDuration,
  stateCounts,
  stateOf,
  statePaint,
  taskOf,
  tokens,
} from '../../src/view/format.ts';
import type { Palette } from '../../src/terminal/terminal.ts';

test.each([
  [-5, '0ms'],
  [0, '0ms'],
  [820.4, '820ms'],
  [999, '999ms'],
  [999.7, '1.0s'],
  [1_000, '1.0s'],
  [4_249, '4.2s'],
  [59_949, '59.9s'],
  [59_999, '1m00s'],
  [60_000, '1m00s'],
  [192_000, '3m12s'],
  [3_599_999, '59m59s'],
  [3_600_000, '1h00m'],
  [18_180_000, '5h03m'],
  [360_000_000, '100h00m'],
])('%d ms is %s', (ms, text) => {
  expect(duration(ms)).toBe(text);
});

test.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1.0k'],
  [12_345, '12.3k'],
  [999_949, '999.9k'],
  [999_999, '1.0M'],
  [4_500_000, '4.5M'],
])('%d tokens are %s', (count, text) => {
  expect(tokens(count)).toBe(text);
});

test.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_024, '1.0 KB'],
  [1024 * 1024 - 1, '1.0 MB'],
  [12 * 1024 * 1024, '12.0 MB'],
])('%d bytes are %s', (count, text) => {
  expect(bytes(count)).toBe(text);
});

test('a time of day is in local time', () => {
  expect(clockTime(new Date(2026, 0, 2, 3, 4, 5).getTime())).toBe('03:04:05');
});

describe('an agent', () => {
  const run = { status: 'completed', startedAt: 1_000, endedAt: 3_500 };
  const agent = (given: object) =>
    ({ status: 'running', activity: 'idle', class: 'ephemeral', run: null, ...given }) as unknown as AgentView;

  test.each([
    ['idle', agent({})],
    ['completed', agent({ run })],
    ['idle', agent({ run, class: 'persistent' })],
    ['idle', agent({ run: { ...run, status: 'failed' } })],
    ['waiting_for_input', agent({ activity: 'waiting_for_input', run })],
    ['crashed', agent({ activity: 'crashed', run: { ...run, status: 'failed' } })],
    ['dead', agent({ status: 'dead', activity: 'stopped', run })],
    ['paused', agent({ activity: 'running', paused: true })],
    ['dead', agent({ status: 'dead', activity: 'stopped', paused: true })],
  ])('is %s', (state, given) => {
    expect(stateOf(given)).toBe(state);
  });

  test.each([
    ['completed', 'green'],
    ['running', 'cyan'],
    ['starting', 'cyan'],
    ['waiting_for_input', 'yellow'],
    ['exhausted', 'yellow'],
    ['paused', 'yellow'],
    ['crashed', 'red'],
    ['stopped', 'dim'],
    ['dead', 'dim'],
  ])('that is %s is painted %s', (state, colour) => {
    const paint = (name: string) => (text: string) => `${name}:${text}`;
    const names = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan'] as const;
    const colours = Object.fromEntries(names.map((name) => [name, paint(name)])) as Palette;
    expect(statePaint(state, colours)('x')).toBe(`${colour}:x`);
  });

  test('its run took so long, or has so far', () => {
    expect(runDuration(agent({}), 9_000)).toBe('');
    expect(runDuration(agent({ run }), 9_000)).toBe('2.5s');
    expect(runDuration(agent({ run: { ...run, endedAt: null } }), 9_000)).toBe('8.0s');
  });

  test('its task is the first line of what it was given, whatever it does now', () => {
    const given = { assignment: 'fix it\nwith care', detail: 'calling Bash', run: { task: 'Mail has come for you' } };
    expect(taskOf(agent(given))).toBe('fix it');
    expect(activityOf(agent(given))).toBe('calling Bash');
    expect(taskOf(agent({ assignment: null }))).toBe('-');
    expect(activityOf(agent({ detail: '' }))).toBe('-');
  });

  test('its change and its cost; what is unknown is no zero', () => {
    expect(changeOf(agent({ change: { id: 'abcdefghijkl', state: 'testing' } }))).toBe('abcdef testing');
    expect(changeOf(agent({ change: null }))).toBe('-');
    expect(costOf(agent({ cost: { usd: 0.012, tokens: 5 } }))).toBe('$0.012');
    expect(costOf(agent({ cost: { usd: 12.345, tokens: 5 } }))).toBe('$12.35');
    expect(costOf(agent({ cost: { usd: null, tokens: 12_345 } }))).toBe('12.3k tok');
    expect(costOf(agent({ cost: { usd: null, tokens: null } }))).toBe('-');
  });
});

test('things are counted, and names beyond a dozen only counted', () => {
  expect([0, 1, 2].map((number) => count(number, 'agent'))).toEqual(['0 agents', '1 agent', '2 agents']);
  const letters = 'abcdefghijklmn'.split('');
  expect(names(letters.slice(0, 12))).toBe('a, b, c, d, e, f, g, h, i, j, k, l');
  expect(names(letters)).toBe('a, b, c, d, e, f, g, h, i, j, k, l and 2 more');
  expect(names([])).toBe('');
});

test('states are counted, what goes on first [W1-25]', () => {
  const states = 'dead idle running dead running idle running'.split(' ');
  expect(stateCounts(states)).toBe('7 agents: 3 running, 2 idle, 2 dead');
  expect(stateCounts([])).toBe('0 agents');
});
