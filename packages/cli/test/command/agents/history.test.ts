import { width } from '@pawl/present/text';
import type { HistoryPage } from '@pawl/protocol/agents/history/view';
import { idOf } from '@pawl/testing/agent-view';
import { describe, expect, test } from 'vitest';
import { describeMessage, history } from '../../../src/command/agents/history.ts';
import { palette } from '../../../src/terminal/palette.ts';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

type HistoryMessage = HistoryPage['messages'][number];
const noon = new Date(2026, 0, 2, 12, 0, 0).getTime();

const message = (id: number, given: Partial<HistoryMessage> = {}): HistoryMessage => ({
  id,
  agentId: idOf(1),
  runId: null,
  sessionId: null,
  kind: 'user',
  content: `message ${id}`,
  data: null,
  createdAt: noon,
  inherited: false,
  ...given,
});

/** An agent with so many inherited and three own messages, in pages of two. */
function fakeHistory(inherited: number, json: boolean) {
  const all = Array.from({ length: inherited + 3 }, (_, index) => message(index + 1, { inherited: index < inherited }));
  return fakeDaemon(
    ({ url, response }) => {
      const rest = all.filter(({ id }) => id > Number(url.searchParams.get('after') ?? 0));
      const counts = { agentId: idOf(1), alias: 'brave-otter', assignment: 'fix it\nnow', inherited, own: 3 };
      sendJson(response, { ...counts, messages: rest.slice(0, 2), more: rest.length > 2 });
    },
    { json },
  );
}

describe('history', () => {
  test('starts with the number of inherited messages, and shows every page', async () => {
    await using daemon = await fakeHistory(2, false);
    expect(await history(daemon.context, 'brave-otter', {})).toBe(0);
    expect(daemon.texts).toEqual([
      'brave-otter: fix it\ninherited: 2 messages',
      ...[1, 2, 3, 4, 5].map((id) => `12:00:00 user         message ${id}`),
    ]);
    expect(daemon.requests).toEqual([
      'GET /api/agents/brave-otter/history?limit=500',
      'GET /api/agents/brave-otter/history?limit=500&after=2',
      'GET /api/agents/brave-otter/history?limit=500&after=4',
    ]);
  });

  test('--own omits inherited messages', async () => {
    await using daemon = await fakeHistory(2, false);
    await history(daemon.context, 'brave-otter', { own: true });
    expect(daemon.texts).toHaveLength(4);
    expect(daemon.texts[0]).toContain('inherited: 2 messages (not shown)');
  });

  test('starts with the agent and its task; nothing inherited needs no line', async () => {
    await using daemon = await fakeHistory(0, false);
    await history(daemon.context, 'brave-otter', {});
    expect(daemon.texts[0]).toBe('brave-otter: fix it');
    expect(daemon.texts[1]).toContain('message 1');
  });

  test('an agent without messages says so', async () => {
    await using daemon = await fakeDaemon(
      ({ response }) =>
        sendJson(response, {
          agentId: idOf(1),
          alias: 'brave-otter',
          assignment: null,
          inherited: 0,
          own: 0,
          messages: [],
          more: false,
        }),
      { json: false },
    );
    await history(daemon.context, 'brave-otter', {});
    expect(daemon.texts).toEqual(['brave-otter\nno messages yet']);
  });

  test('--all after a clear does not say that there are none', async () => {
    const cleared = {
      id: 1,
      agentId: idOf(1),
      runId: null,
      sessionId: null,
      kind: 'user',
      content: 'fix it',
      data: null,
      createdAt: 1,
      inherited: false,
      forgotten: 'cleared',
    };
    const page = { agentId: idOf(1), alias: 'brave-otter', assignment: null, inherited: 0, own: 0, more: false };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { ...page, messages: [cleared] }), {
      json: false,
    });
    await history(daemon.context, 'brave-otter', { all: true });
    expect(daemon.texts).toEqual(['brave-otter', expect.stringContaining('[cleared] fix it')]);
  });

  test('with --json the first record counts, and each message says whether it was inherited', async () => {
    await using daemon = await fakeHistory(1, true);
    await history(daemon.context, 'brave-otter', {});
    expect(daemon.printed.map(({ kind }) => kind)).toEqual(['history', ...Array<string>(4).fill('message')]);
    expect(daemon.printed[0]?.data).toMatchObject({ agentId: idOf(1), alias: 'brave-otter', inherited: 1, own: 3 });
    expect(daemon.printed.slice(1).map(({ data }) => (data as HistoryMessage).inherited)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('a message', () => {
  const shown = (given: Partial<HistoryMessage>, full = false) =>
    describeMessage(message(1, given), { full, columns: 60, colours: palette({}) });

  test.each<[string, Partial<HistoryMessage>, string]>([
    ['a tool call', { kind: 'tool_call', content: 'Bash ls', data: { name: 'Bash' } }, 'tool_call    ▸ Bash ls'],
    ['a note with data', { kind: 'rewind', content: '', data: { to: 7 } }, 'rewind       to=7'],
    ['a note with words', { kind: 'fork', content: 'forked', data: { childId: 'x' } }, 'fork         forked'],
    ['hostile text', { content: 'a\u001B[2Jb\rc' }, 'user         ab\uFFFDc'],
  ])('%s', (_name, given, text) => {
    expect(shown(given)).toBe(`12:00:00 ${text}`);
  });

  test('a long one is cut in both directions, unless --full is given', () => {
    const content = Array.from({ length: 40 }, (_, index) => `line ${index} ${'x'.repeat(100)}`).join('\n');
    const lines = shown({ content }).split('\n');
    expect(lines).toHaveLength(13);
    expect(lines.at(-1)?.trim()).toBe('… 28 more lines; --full shows all');
    expect(Math.max(...lines.map(width))).toBe(60);
    expect(lines[1]).toMatch(/^ {22}line 1 x+…$/);
    expect(shown({ content }, true).split('\n')).toHaveLength(40);
    expect(shown({ content }, true)).toContain('x'.repeat(100));
  });

  test('inherited messages are dimmed', () => {
    const colours = { ...palette({}), dim: (text: string) => `<${text}>`, bold: (text: string) => `*${text}*` };
    const options = { full: false, columns: 60, colours };
    expect(describeMessage(message(1, { inherited: true }), options)).toBe('<12:00:00 user         ><message 1>');
    expect(describeMessage(message(1), options)).toBe('*12:00:00 user         *message 1');
  });
});
