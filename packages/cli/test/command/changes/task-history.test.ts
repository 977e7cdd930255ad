import { expect, test } from 'vitest';
import { taskHistory } from '../../../src/command/changes/task-history.ts';
import { idOf } from '@pawl/testing/agent-view';
import { shop } from '../../change-view.ts';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

test('task history shows ten, newest first, with their outcomes [W4-10]', async () => {
  const row = {
    agent: { id: idOf(1), alias: 'brave-otter' },
    project: shop,
    branch: 'work/brave-otter',
    detail: '',
    startedAt: 0,
    endedAt: null,
  };
  const tasks = [
    { ...row, task: 'fix\u001b[2J it\nnow', state: 'merged', changeId: `change${'0'.repeat(16)}`, endedAt: 5 },
    { ...row, task: 'try it', state: 'no-pr', changeId: null },
  ];
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { tasks }), { json: false });
  expect(await taskHistory(daemon.context, {})).toBe(0);
  await taskHistory(daemon.context, { limit: 3, project: '/srv' });
  expect(daemon.requests).toEqual(['GET /api/history?limit=10', 'GET /api/history?limit=3&path=%2Fsrv']);
  const lines = daemon.texts[0]?.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '));
  expect(lines?.[0]).toBe('AGENT  STATE  CHANGE  AGO  TASK');
  expect(lines?.[1]).toMatch(/^brave-otter {2}merged {2}change00 {2}\S+ {2}fix it now$/);
  expect(lines?.[2]).toMatch(/^brave-otter {2}no-pr {2}- {2}\S+ {2}try it$/);
});

test('task history without any', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { tasks: [] }), { json: false });
  await taskHistory(daemon.context, {});
  expect(daemon.texts[0]).toContain('pawl work');
});
