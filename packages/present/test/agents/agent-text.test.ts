import type { AgentView } from '@pawl/protocol/agents/view';
import { describe, expect, test } from 'vitest';
import {
  accessOf,
  activityOf,
  changeOf,
  confinementOf,
  costOf,
  runDuration,
  stateCounts,
  stateOf,
  taskOf,
} from '../../src/agents/agent-text.ts';

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

  test('its access, and whether it runs in a sandbox', () => {
    expect(accessOf(agent({ access: 'full', session: null }))).toBe('full');
    expect(accessOf(agent({ access: 'full', session: { sandbox: 'on' } }))).toBe('full, sandboxed');
    expect(accessOf(agent({ access: 'ask', session: { sandbox: 'off' } }))).toBe('ask, no sandbox');
    expect(confinementOf(agent({ access: 'full' }), { sandbox: 'off' })).toBe(
      'access: full, without a sandbox (sandbox: off in config.yaml)',
    );
  });

  test('the duration of its run, or so far', () => {
    expect(runDuration(agent({}), 9_000)).toBe('');
    expect(runDuration(agent({ run }), 9_000)).toBe('2.5s');
    expect(runDuration(agent({ run: { ...run, endedAt: null } }), 9_000)).toBe('8.0s');
  });

  test('its task is the first line of its assignment, whatever it does now', () => {
    const given = { assignment: 'fix it\nwith care', detail: 'calling Bash', run: { task: 'You have new mail' } };
    expect(taskOf(agent(given))).toBe('fix it');
    expect(activityOf(agent(given))).toBe('calling Bash');
    expect(taskOf(agent({ assignment: null }))).toBe('-');
    expect(activityOf(agent({ detail: '' }))).toBe('-');
  });

  test('its change and its cost; unknown is not zero', () => {
    expect(changeOf(agent({ change: { id: 'abcdefghijkl', state: 'testing' } }))).toBe('abcdef testing');
    expect(changeOf(agent({ change: null }))).toBe('-');
    expect(costOf(agent({ cost: { usd: 0.012, tokens: 5 } }))).toBe('$0.012');
    expect(costOf(agent({ cost: { usd: 12.345, tokens: 5 } }))).toBe('$12.35');
    expect(costOf(agent({ cost: { usd: null, tokens: 12_345 } }))).toBe('12.3k tok');
    expect(costOf(agent({ cost: { usd: null, tokens: null } }))).toBe('-');
  });
});

test('states are counted, active ones first [W1-25]', () => {
  const states = 'dead idle running dead running idle running'.split(' ');
  expect(stateCounts(states)).toBe('7 agents: 3 running, 2 idle, 2 dead');
  expect(stateCounts([])).toBe('0 agents');
});
