import { taskStates as stored } from '@pawl/schema/record';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { addTask, changeTask, listTasks, showTask } from '../../../src/command/changes/task.ts';
import { taskStates } from '../../../src/table/tasks.ts';
import { idOf } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

const task = {
  id: idOf(7),
  projectId: idOf(900),
  phase: 'one',
  name: 'write the parser',
  description: '',
  dependsOn: [],
  createdBy: null,
  createdAt: 1,
  summary: null,
  completedAt: null,
  finishedAt: null,
  blockedReason: null,
  crashes: 0,
  agentId: null,
  state: 'pending',
  detail: '',
  project: { id: idOf(900), name: 'shop' },
  agent: null,
};

test('--state takes exactly the existing states', () => {
  expect(taskStates).toEqual([...stored]);
});

describe('task add', () => {
  test('says where, what, after which and beside which agent', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { task, created: true }), {
      json: false,
    });
    await addTask(daemon.context, 'write the parser', {
      phase: 'one',
      after: ['design it', 'abcd'],
      description: 'by hand',
    });
    await addTask(daemon.context, 'write the parser', { agentId: 'brave-otter' });
    expect(daemon.bodies).toEqual([
      {
        path: resolve('.'),
        name: 'write the parser',
        phase: 'one',
        after: ['design it', 'abcd'],
        description: 'by hand',
      },
      { name: 'write the parser', agent: 'brave-otter' },
    ]);
    expect(daemon.texts[0]).toBe(`added write the parser (${task.id.slice(0, 6)}, pending)`);
  });

  test('says if it exists already', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { task, created: false }), {
      json: false,
    });
    await addTask(daemon.context, 'Write the parser', {});
    expect(daemon.texts[0]).toMatch(/^there already: write the parser/);
  });
});

test('task ls shows hostile names as text', async () => {
  const tasks = [task, { ...task, name: 'a\u001b[2Jb\nc', state: 'blocked', detail: 'waits for x', phase: '' }];
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { tasks, more: true }), { json: false });
  expect(await listTasks({ ...daemon.context, columns: 140 }, { state: 'pending', all: true })).toBe(0);
  expect(daemon.requests).toEqual(['GET /api/tasks?state=pending&all=true']);
  expect(daemon.texts[0]?.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  ').trim())).toEqual([
    'ID  STATE  PROJECT  PHASE  AGENT  TASK  DETAIL',
    'agent0  pending  shop  one  -  write the parser',
    'agent0  blocked  shop  -  -  ab c  waits for x',
    '(older ones are left out; --phase or --state shows fewer)',
  ]);
});

test('task ls without any', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { tasks: [], more: false }), {
    json: false,
  });
  await listTasks(daemon.context, { project: '/srv/shop' });
  expect(daemon.requests).toEqual(['GET /api/tasks?path=%2Fsrv%2Fshop']);
  expect(daemon.texts).toEqual(['no tasks; add one: pawl task add "what to do"']);
});

test('task show prints everything, and with --json unchanged', async () => {
  const detail = {
    task: { ...task, summary: 'a grammar\u0007\n', description: 'by hand' },
    dependencies: [{ id: idOf(8), name: 'design it', state: 'completed', summary: 'x' }],
    dependents: [],
    agents: [{ id: idOf(1), alias: 'brave-otter' }],
  };
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, detail), { json: false });
  await showTask(daemon.context, 'write the parser', {});
  expect(daemon.requests).toEqual(['GET /api/tasks/write%20the%20parser']);
  const [text = ''] = daemon.texts;
  expect(text).toContain('design it (completed)');
  expect(text).toContain('brave-otter');
  expect(text).toContain('summary\na grammar\u{FFFD}');
  expect(daemon.printed).toEqual([{ kind: 'task', data: detail }]);
});

describe('task done, block and unblock', () => {
  test('send their options', async () => {
    const blocked = { ...task, state: 'blocked', detail: 'too early' };
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { task: blocked }), { json: false });
    await changeTask(daemon.context, 'done', 'abcd', { summary: 'it is there' });
    await changeTask(daemon.context, 'block', 'abcd', { reason: 'too early' });
    await changeTask(daemon.context, 'unblock', 'abcd', { project: '/srv' });
    expect(daemon.requests).toEqual([
      'POST /api/tasks/abcd/done',
      'POST /api/tasks/abcd/block',
      'POST /api/tasks/abcd/unblock?path=%2Fsrv',
    ]);
    expect(daemon.bodies).toEqual([{ summary: 'it is there' }, { reason: 'too early' }, {}]);
    expect(daemon.texts[1]).toBe('write the parser is blocked: too early');
  });

  test('an empty reason is refused before any request', async () => {
    await using daemon = await fakeDaemon(() => {});
    await expect(changeTask(daemon.context, 'block', 'abcd', { reason: ' ' })).rejects.toMatchObject({ code: 'usage' });
    expect(daemon.requests).toEqual([]);
  });
});
