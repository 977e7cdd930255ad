import { expect, test } from 'vitest';
import { createTurns, toolSummary } from '../src/agent/turns.ts';

type Events = NonNullable<Parameters<ReturnType<typeof createTurns>['add']>[0]['events']>;
const chunk = (id: number, events: Events, sessionNo = 1) => ({
  id,
  sessionNo,
  stream: 'stdout' as const,
  offset: id,
  at: id * 1_000,
  events,
});

test('a turn is one message that grows: text as it comes, tools inside it, the whole text in place of its pieces [S2-27, S2-28, S2-30]', () => {
  const turns = createTurns();
  turns.add(chunk(1, [{ type: 'text-delta', text: 'I lo' }]));
  turns.add(chunk(2, [{ type: 'text-delta', text: 'ok.' }]));
  expect(turns.list()).toMatchObject([{ state: 'open', parts: [{ is: 'text', text: 'I look.' }] }]);
  turns.add(chunk(3, [{ type: 'text', text: 'I look. Now.' }]));
  turns.add(chunk(4, [{ type: 'tool-call', id: 'a', name: 'Bash', input: 'npm test' }]));
  turns.add(chunk(5, [{ type: 'tool-call', id: 'b', name: 'Read', input: 'x.ts' }]));
  turns.add(chunk(6, [{ type: 'tool-result', id: 'a', text: 'boom', isError: true }]));
  expect(turns.list()).toHaveLength(1);
  turns.add(chunk(7, [{ type: 'text', text: 'Done.' }]));
  turns.add(chunk(8, [{ type: 'result', ok: true, text: 'Done.', fault: null }]));
  const [turn] = turns.list();
  expect(turn?.state).toBe('done');
  expect(turn?.parts.map((part) => part.is)).toEqual(['text', 'tools', 'text']);
  expect(turn?.parts[0]).toMatchObject({ text: 'I look. Now.' });
  expect(turn?.parts[1]).toMatchObject({ calls: [{ result: 'boom', failed: true }, { result: null }] });
});

test('chunks that come again after a reconnect change nothing, and the next turn is a message of its own', () => {
  const turns = createTurns();
  const said = chunk(1, [{ type: 'text', text: 'once' }]);
  expect([turns.add(said), turns.add(said)]).toEqual([true, false]);
  turns.add(chunk(2, [{ type: 'result', ok: false, text: 'out of tokens', fault: 'limit' }]));
  turns.add(chunk(3, [{ type: 'text', text: 'again' }]));
  turns.add(chunk(4, [{ type: 'text', text: 'another session' }], 2));
  expect(turns.list().map(({ state, sessionNo }) => [state, sessionNo])).toEqual([
    ['failed', 1],
    ['done', 1],
    ['open', 2],
  ]);
  expect(turns.list()[0]?.parts).toMatchObject([{ text: 'once' }, { is: 'note', tone: 'bad', text: 'out of tokens' }]);
});

test('a row of tools says how many there are, how many failed, and the latest [S2-29]', () => {
  const call = (name: string, result: string | null, failed = false) => ({
    id: name,
    name,
    input: 'x',
    at: 0,
    result,
    failed,
  });
  expect(toolSummary([call('Bash', null)])).toEqual({ text: 'Bash x', failed: 0, isRunning: true });
  expect(toolSummary([call('Bash', 'no', true), call('Read', 'yes')])).toEqual({
    text: '2 tools, 1 failed · Read x',
    failed: 1,
    isRunning: false,
  });
});
