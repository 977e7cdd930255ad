import { expect, test } from 'vitest';
import { ps } from '../../../src/command/agents/ps.ts';
import { agentView, idOf } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const agents = [agentView(), agentView({ id: idOf(2), alias: 'calm-fox' })];

test('a star marks the current agent', async () => {
  await using daemon = await fakeDaemon(
    ({ response }) => sendJson(response, { agents, more: false, current: idOf(2) }),
    {
      json: false,
    },
  );
  expect(await ps(daemon.context, {})).toBe(0);
  const starts = daemon.texts[0]?.split('\n').map((line) => line.split(' ')[0]);
  expect(starts).toEqual(['AGENT', 'brave-otter', '*calm-fox']);
});

test.each([80, 120, 200])(
  '%i columns: task, activity, change and cost are shown, and no line is longer',
  async (columns) => {
    const busy = agentView({
      alias: 'brave-otter',
      activity: 'running',
      assignment: 'Fix the login test that fails on every second run of the suite',
      detail: 'calling Bash: npm test -- --run login',
      change: { id: idOf(7), state: 'needs-human-input', detail: '' },
      cost: { usd: 1.234, tokens: 80_000 },
    });
    const idle = agentView({ id: idOf(2), alias: 'calm-fox', assignment: 'Write the docs' });
    await using daemon = await fakeDaemon(
      ({ response }) => sendJson(response, { agents: [busy, idle], more: false, current: null }),
      { json: false },
    );
    await ps({ ...daemon.context, columns }, {});
    const [head = '', first = '', second = ''] = daemon.texts[0]?.split('\n') ?? [];
    for (const title of ['AGENT', 'STATE', 'TASK', 'ACTIVITY', 'CHANGE', 'COST']) expect(head).toContain(title);
    expect(head.includes('PROVIDER')).toBe(columns === 200);
    expect(first).toContain('Fix the');
    expect(first).toContain('calling');
    expect(first).toContain('needs-human-input');
    expect(first).toContain('$1.23');
    expect(second).toMatch(/Write the.* - .* - /);
    for (const line of [head, first, second]) expect(line.length).toBeLessThanOrEqual(columns);
  },
);

test.each([
  [{}, 'GET /api/agents'],
  [{ all: true }, 'GET /api/agents?all=true'],
  [{ reaped: true }, 'GET /api/agents?all=true&reaped=true'],
  [{ project: 'shop', limit: 5 }, 'GET /api/agents?project=shop&limit=5'],
])('%j asks %s, once', async (options, request) => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { agents, more: false, current: null }));
  await ps(daemon.context, options);
  expect(daemon.requests).toEqual([request]);
});

test('an agent that Pawl did not start is marked [7.1]', async () => {
  const adopted = { pid: 41, start: 'b/1', cwd: '/code/shop' };
  const stranger = agentView({ alias: 'claude-41', adopted, activity: 'running', detail: 'adopted: pid 41' });
  await using daemon = await fakeDaemon(
    ({ response }) => sendJson(response, { agents: [stranger], more: false, current: null }),
    { json: false },
  );
  await ps(daemon.context, {});
  expect(daemon.texts[0]?.split('\n')[1]).toMatch(/^claude-41 +adopted .*adopted: pid 41/);
});

test('--limit beyond one page of the daemon asks for the next pages, and no more than that', async () => {
  const older = Array.from({ length: 1_000 }, (_, index) => agentView({ id: idOf(index + 10) }));
  await using daemon = await fakeDaemon(({ url, response }) => {
    const page = older.slice(0, Number(url.searchParams.get('limit')));
    sendJson(response, { agents: page, more: true, current: null });
  });
  await ps(daemon.context, { limit: 1_500 });
  expect(daemon.requests).toEqual([
    'GET /api/agents?limit=1000',
    `GET /api/agents?limit=500&before=${older.at(-1)?.id}`,
  ]);
  expect(daemon.printed).toMatchObject([{ kind: 'agents', data: { more: true } }]);
});

test('the first project of an agent with several is shown with the number of the others', async () => {
  const place = { project: { id: idOf(8), name: 'web' }, path: '/w/web', branch: 'b', baseCommit: 'c', end: null };
  const several = [agentView({ places: [place] }), agentView({ id: idOf(2), project: null })];
  await using daemon = await fakeDaemon(
    ({ response }) => sendJson(response, { agents: several, more: false, current: null }),
    { json: false },
  );
  await ps({ ...daemon.context, columns: 200 }, {});
  const [head = '', first = '', second = ''] = daemon.texts[0]?.split('\n') ?? [];
  const at = head.indexOf('PROJECT');
  expect([first, second].map((line) => line.slice(at).split('  ')[0])).toEqual(['shop +1', '-']);
});

test.each([
  [[agentView({ id: idOf(9), parentId: null })], 'no agents yet'],
  [
    [agentView({ parentId: idOf(9) }), agentView({ id: idOf(9), parentId: null })],
    'all agents have ended; pawl ps --all',
  ],
])('a list without living agents says if there were any', async (everyone, words) => {
  await using daemon = await fakeDaemon(
    ({ response, url }) =>
      sendJson(response, { agents: url.searchParams.has('all') ? everyone : [], more: false, current: null }),
    { json: false },
  );
  await ps(daemon.context, {});
  expect(daemon.texts[0]).toContain(words);
});
