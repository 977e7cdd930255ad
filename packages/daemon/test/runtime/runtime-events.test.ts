import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import type { PlainClient, PlainEvent } from './plain-client.ts';
import { plainClient } from './plain-client.ts';

let daemon: TestDaemon;
let client: PlainClient;
beforeAll(async () => {
  daemon = await startTestDaemon();
  client = plainClient(daemon);
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const ended = (times = 1) => {
  return (events: PlainEvent[]) =>
    events.filter(({ type, status }) => type === 'AgentStatus' && status === 'idle').length >= times &&
    events.at(-1)?.type === 'StateUpdated';
};
const seqs = (events: readonly PlainEvent[]) => events.map(({ seq }) => seq);
const rising = (numbers: readonly number[]) => [...new Set(numbers)].toSorted((one, other) => one - other);

test('a turn is seen as statuses, tokens, messages and an outcome [S2-19] [S2-20] [W2-14]', async () => {
  const stream = await client.open(`&project_root=${encodeURIComponent(daemon.repository)}`);
  const agent = await daemon.work([
    { think: 'hm' },
    { shell: 'true' },
    { stream: { text: 'one two three', for: '60ms', pieces: 3 } },
    { say: 'done' },
    'complete',
  ]);
  const events = await stream.until(ended());
  const statuses = events.filter(({ type }) => type === 'AgentStatus');
  for (const event of statuses) expect(event['agent_id']).toBe(agent.id);
  const shown = statuses.map(({ status, lifecycle }) =>
    [status, ...(lifecycle === undefined ? [] : [lifecycle])].join(' '),
  );
  expect(shown).toEqual(
    expect.arrayContaining([
      'model_loading doing',
      'thinking doing',
      'thinking done',
      'calling_tool done',
      'working doing',
    ]),
  );
  expect(shown.at(-1)).toBe('idle');
  expect(statuses).toContainEqual(expect.objectContaining({ status: 'model_loading', detail: 'Model loading' }));
  expect(statuses).toContainEqual(expect.objectContaining({ status: 'calling_tool', detail: 'Calling Bash' }));
  const tokens = events.filter(({ type }) => type === 'Token').map(({ token }) => token);
  expect(tokens.join('')).toBe('one two three');
  const place = { project_root: daemon.repository, session_id: 'default' };
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'Message', from: 'user', to: agent.id, content: 'a task', ...place }),
  );
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'Message', from: agent.id, to: 'user', content: 'one two three', ...place }),
  );
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'Outcome', agent_id: agent.id, outcome: { type: 'none' }, ...place }),
  );
  expect(seqs(events)).toEqual(rising(seqs(events)));
  // The pieces are not in the log.
  const { events: stored } = await daemon.client.events({ agent: agent.id });
  expect(JSON.stringify(stored)).not.toContain('one two three');
});

test('two clients see the same numbers, and a third goes on after any of them [S2-21] [8.19]', async () => {
  const [one, other] = [await client.open(), await client.open()];
  await daemon.work([{ say: 'hello' }, 'complete']);
  const [first, second] = await Promise.all([one.until(ended()), other.until(ended())]);
  const without = (events: PlainEvent[]) => events.filter(({ type }) => type !== 'StateUpdated');
  expect(without(second)).toEqual(without(first));
  const known = first[2]?.seq ?? 0;
  const later = await (await client.open('', known)).until(ended());
  expect(without(later)).toEqual(without(first).filter(({ seq }) => seq > known));
  expect(later.every(({ seq }) => seq > known)).toBe(true);
});

test('a client that is ahead of the log is told to begin again', async () => {
  const answer = await client.open('', 2 ** 52);
  const [event] = await answer.until(() => true);
  expect(event?.type).toBe('StateUpdated');
});

test('events of one chat thread or project do not reach a reader of another [4.2.3]', async () => {
  const stream = await client.open('&session_id=mine');
  const other = await daemon.work([{ say: 'not for you' }, 'complete'], { sessionId: 'theirs' });
  await daemon.ended(other.id);
  const agent = await daemon.work([{ say: 'for you' }, 'complete'], { sessionId: 'mine' });
  const events = await stream.until(ended());
  // Without a thread: state of the whole project.
  const threads = new Set(events.map((event) => event['session_id']).filter((thread) => thread !== null));
  expect(threads).toEqual(new Set(['mine']));
  expect(events.some(({ from }) => from === agent.id)).toBe(true);
  expect(JSON.stringify(events)).not.toContain('not for you');
});
