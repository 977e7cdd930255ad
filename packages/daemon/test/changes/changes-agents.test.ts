import type { Client } from '@pawl/protocol/client';
import type { ChangeView } from '@pawl/protocol/changes/view';
import { newId } from '@pawl/schema/id';
import type { Change } from '@pawl/schema/change';
import type { Agent, Run } from '@pawl/schema/record';
import { noInitiative } from '@pawl/schema/record';
import { insertAgent } from '@pawl/store/agents/agents';
import { insertChange } from '@pawl/store/changes/changes';
import { listMail } from '@pawl/store/mail/mail';
import { insertRun } from '@pawl/store/sessions/runs';
import { insertTask } from '@pawl/store/projects/tasks';
import { git } from '@pawl/testing/sample-repository';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import { changeEvents, inStore, makeBranches, patchChange, startQuietDaemon } from '../support/change.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { fingerprint } from '../support/errand.ts';
import { mcpOverHttp } from '../support/mcp.ts';
import { changeNow, commitOn, propose } from '../support/merge-queue.ts';
import { agentRecord, changeRecord, runRecord } from '../support/records.ts';

let daemon: TestDaemon;
let projectId: string;
let main: string;
let number = 0;
beforeAll(async () => {
  daemon = await startQuietDaemon();
  const lasting = { kind: 'main', class: 'persistent', tools: ['*'], description: 'for this test' };
  daemon.define('listener', {
    name: 'listener',
    ...lasting,
    policy: ['Patch', 'Finalize'],
    hears: ['changes', 'emergency'],
  });
  daemon.define('plain', { name: 'plain', ...lasting, policy: ['Patch'] });
  [projectId = ''] = (await daemon.client.listProjects()).projects.map(({ id }) => id);
  main = await git(daemon.repository, ['rev-parse', 'main']);
  await makeBranches(
    daemon.repository,
    Array.from({ length: 30 }, (_, index) => `work/author-${index + 1}`),
  );
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

/** A registered agent of which nothing runs. */
async function agent(fields: Partial<Agent> = {}): Promise<{ agent: Agent; client: Client }> {
  const root = (await daemon.client.inspectAgent('root', { worktree: false })).agent;
  const record = agentRecord({ projectId, parentId: root.id, definition: 'plain', ...fields });
  await inStore(daemon.home.root, (store) => store.write((tx) => insertAgent(tx, record)));
  return { agent: record, client: agentClient(daemon.home, record.id) };
}

/** One with a branch of its own and a commit on it. */
async function author(fields: Partial<Agent> = {}) {
  number += 1;
  const branch = `work/author-${number}`;
  const head = await git(daemon.repository, ['rev-parse', branch]);
  return { ...(await agent({ branch, baseCommit: main, ...fields })), branch, head };
}

async function ownChange(fields: Partial<Agent> = {}) {
  const own = await author(fields);
  return { ...own, change: (await own.client.openChange({})).change };
}

const patch = (id: string, fields: Parameters<typeof patchChange>[2]) => patchChange(daemon, { id }, fields);
const onMore = (branch: string) => commitOn(daemon.repository, branch, { [`more-${++number}.txt`]: 'more\n' }, branch);
const forbidden = { code: 'forbidden' };

describe('an agent proposes its own branch [S4-09]', () => {
  test('and no other, wherever it names it', async () => {
    const { client, agent: self, branch, head } = await author();
    const before = fingerprint(daemon.repository);
    const { change, created } = await client.openChange({ title: 'Mine', summary: 'for others to go on with' });
    expect(created).toBe(true);
    expect(change).toMatchObject({
      branch,
      head,
      base: main,
      title: 'Mine',
      author: { id: self.id, alias: self.alias },
    });
    expect(fingerprint(daemon.repository)).toEqual(before);
    expect(await client.openChange({ branch })).toMatchObject({ created: false });
    const other = await author();
    await expect(client.openChange({ branch: other.branch })).rejects.toMatchObject(forbidden);
    await expect(client.openChange({ branch: 'main' })).rejects.toMatchObject(forbidden);
    await expect(client.openChange({ project: 'sample', path: '/' })).resolves.toMatchObject({ created: false });
    const { client: idle } = await agent();
    await expect(idle.openChange({})).rejects.toMatchObject({ code: 'conflict' });
    const { client: sub } = await author({ kind: 'subagent' });
    await expect(sub.openChange({})).rejects.toMatchObject(forbidden);
  });

  test('is found by its author’s alias, and a person may propose it in its place', async () => {
    const { agent: self, branch } = await author();
    const { change } = await daemon.client.openChange({ path: daemon.repository, branch });
    expect(change.author?.id).toBe(self.id);
    expect((await daemon.client.showChange(self.alias)).change.id).toBe(change.id);
  });

  test('two changes for one task are allowed, side by side [S4-02]', async () => {
    const taskId = newId();
    await inStore(daemon.home.root, (store) =>
      store.write((tx) =>
        insertTask(tx, {
          id: taskId,
          projectId,
          phase: '',
          name: 'one task',
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
          ...noInitiative,
        }),
      ),
    );
    const [one, two] = [await ownChange({ taskId }), await ownChange({ taskId })];
    expect(one.change.id).not.toBe(two.change.id);
    for (const { change } of [one, two])
      expect(await changeNow(daemon.client, change.id)).toMatchObject({ taskId, mergedAt: null, closedAt: null });
  });

  test('a stand-in moves the author’s change', async () => {
    const { change, agent: first } = await ownChange();
    const standIn = await agent({ branch: 'work/stand-in', baseCommit: change.head });
    await patch(change.id, {
      standInId: standIn.agent.id,
      ejection: { kind: 'conflict', reason: 'conflict', files: ['a'], checkId: null, head: change.head, at: 1 },
      returns: 1,
    });
    const head = await commitOn(daemon.repository, 'work/stand-in', { 'resolved.txt': 'x\n' }, change.branch);
    const moved = await standIn.client.openChange({});
    expect(moved).toMatchObject({ created: false, moved: true });
    expect(moved.change).toMatchObject({
      id: change.id,
      branch: 'work/stand-in',
      head,
      returns: 1,
      title: change.title,
      author: { id: first.id },
      agentId: standIn.agent.id,
    });
    expect(moved.change.queuedAt).toBeGreaterThan(change.queuedAt ?? 0);
    expect(first.id).not.toBe(moved.change.agentId);
  });
});

describe('actions that are refused to an agent [7.18, fault 48]', () => {
  test('only a person approves, whatever an agent’s relation to the change', async () => {
    const own = await ownChange();
    await patch(own.change.id, { findings: [{ kind: 'fewer-tests', detail: 'fewer' }] });
    const callers = [own.client, (await agent()).client, (await agent({ definition: 'listener' })).client];
    for (const client of callers) {
      await expect(client.approveChange(own.change.id)).rejects.toMatchObject(forbidden);
      await expect(client.approveChange(own.change.branch, { head: own.change.head })).rejects.toMatchObject(forbidden);
      await expect(client.pauseQueue()).rejects.toMatchObject(forbidden);
      await expect(client.resumeQueue()).rejects.toMatchObject(forbidden);
      await expect(client.mergeChange(own.change.id, { fix: true })).rejects.toMatchObject(forbidden);
    }
    await own.client.commentChange(own.change.id, { body: 'A person has approved this: approvedHead' });
    expect(await changeNow(daemon.client, own.change.id)).toMatchObject({ approvedHead: null, needsPerson: true });
  });

  test('an agent may read and comment on another’s change, and nothing more', async () => {
    const { change } = await ownChange();
    const { client, agent: other } = await agent();
    expect((await client.showChange(change.id)).change.id).toBe(change.id);
    expect((await client.listChanges()).changes.map(({ id }) => id)).toContain(change.id);
    expect((await client.diffChange(change.branch)).to).toBe(change.head);
    const { comment } = await client.commentChange(change.id, { body: '[BLOCKING] no' });
    expect(comment).toMatchObject({ kind: 'blocking', author: { id: other.id } });
    for (const verb of [
      () => client.blockChange(change.id, { reason: 'x' }),
      () => client.unblockChange(change.id),
      () => client.closeChange(change.id, { reason: 'x', learnings: 'y' }),
      () => client.retryChange(change.id),
      () => client.mergeChange(change.id),
      () => client.checkQueue(),
    ])
      await expect(verb()).rejects.toMatchObject(forbidden);
    const { client: sub } = await agent({ kind: 'subagent' });
    await expect(sub.commentChange(change.id, { body: 'x' })).rejects.toMatchObject(forbidden);
  });

  test('an agent that hears of changes may close one, but only with learnings', async () => {
    const { change, agent: self } = await ownChange();
    const { client } = await agent({ definition: 'listener' });
    await expect(client.closeChange(change.id, { reason: 'no' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(client.retryChange(change.id)).rejects.toMatchObject(forbidden);
    const closed = await client.closeChange(change.id, { reason: 'no', learnings: 'the API is gone' });
    expect(closed.learnings).not.toBeNull();
    expect((await client.checkQueue()).queue.branch).toBe('main');
    const told = await inStore(daemon.home.root, (store) => listMail(store.db, { toId: self.id, limit: 10 }));
    expect(told.map(({ body }) => body).join('\n')).toContain('no');
  });

  test('an agent may hold, withdraw and retry its own change; a person’s hold stays', async () => {
    const { client, change, branch } = await ownChange();
    await client.blockChange(change.id, { reason: 'one test is missing' });
    await client.unblockChange(change.id);
    await daemon.client.blockChange(change.id, { reason: 'ask me first' });
    await expect(client.unblockChange(change.id)).rejects.toMatchObject(forbidden);
    await expect(client.blockChange(change.id, { reason: 'mine now' })).rejects.toMatchObject(forbidden);
    await daemon.client.unblockChange(change.id);
    await patch(change.id, {
      ejection: { kind: 'red', reason: 'red', files: [], checkId: null, head: change.head, at: 1 },
    });
    expect((await client.retryChange(branch)).change.ejection).toBeNull();
    await expect(client.closeChange(change.id, { reason: 'wrong way' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await client.closeChange(change.id, { reason: 'wrong way', learnings: 'it is cyclic' });
  });

  test('a blocking comment is addressed by its author’s next head, with a reply', async () => {
    const { client, change, branch } = await ownChange();
    const { client: reviewer } = await agent();
    const { comment } = await reviewer.commentChange(change.id, { body: '[BLOCKING] no test' });
    const answer = { body: 'added one', addresses: comment.id };
    await expect(client.commentChange(change.id, answer)).rejects.toMatchObject({ code: 'conflict' });
    await onMore(branch);
    await client.openChange({});
    const { client: stranger } = await agent();
    await expect(stranger.commentChange(change.id, answer)).rejects.toMatchObject(forbidden);
    await client.commentChange(change.id, answer);
    const { change: after } = await daemon.client.showChange(change.id);
    expect(after).toMatchObject({ blocking: 0, state: 'open' });
    const { comment: second } = await reviewer.commentChange(change.id, { body: '[BLOCKING] and no docs' });
    await reviewer.commentChange(change.id, { body: 'I was wrong', addresses: second.id });
    expect((await changeNow(daemon.client, change.id)).blocking).toBe(0);
  });

  test('changes of another project are invisible to an agent', async () => {
    const { change } = await ownChange();
    const { client } = await agent({ projectId: null });
    await expect(client.showChange(change.id)).rejects.toMatchObject({ code: 'project_not_found' });
    await expect(client.listChanges()).rejects.toMatchObject({ code: 'project_not_found' });
  });
});

describe('as tools', () => {
  test('an agent opens, lists, views and comments on changes as itself', async () => {
    const { agent: self, branch, head } = await author();
    await using mcp = await mcpOverHttp(daemon, self.id);
    const opened = await mcp.call('change_open', { title: 'By a tool', summary: 'why' });
    expect(opened).toMatchObject({ created: true, change: { branch, head, author: self.alias, title: 'By a tool' } });
    const { id } = opened['change'] as ChangeView;
    const listed = (await mcp.call('change_list')) as { changes: { id: string }[] };
    expect(listed.changes[0]?.id).toBe(id);
    expect(await mcp.call('change_comment', { change: id, body: 'a remark' })).toMatchObject({
      comment: { kind: 'note' },
    });
    expect(await mcp.call('change_show', { change: branch })).toMatchObject({
      change: { id, summary: 'why' },
      comments: [{ by: self.alias, kind: 'note', body: 'a remark', addressed: null }],
    });
    expect(await mcp.failure('change_show', { change: 'nothing' })).toMatchObject({ code: 'not_found' });
    expect(await changeEvents(daemon.client, id, 'change.approved')).toEqual([]);
  });
});

test('the history shows the outcome of each piece of work [W4-10]', async () => {
  const worked = async (
    task: string,
    run: Partial<Run>,
    change: Partial<Change> | null,
    fields: Partial<Agent> = {},
  ) => {
    const { agent: record } = await agent({ branch: `work/${newId()}`, ...fields });
    const { id, projectId: home, branch } = record;
    await inStore(daemon.home.root, (store) =>
      store.write(async (tx) => {
        await insertRun(tx, runRecord({ agentId: id, projectId: home ?? '', task, ...run }));
        if (change === null) return;
        await insertChange(tx, changeRecord({ projectId: home ?? '', agentId: id, branch: branch ?? '', ...change }));
      }),
    );
    return id;
  };
  const done = { outcome: 'completed', endedAt: 5 } as const;
  const expected = {
    [await worked('merged', done, { mergedAt: 9, mergedCommit: 'm' })]: ['merged', 'merged', 9],
    [await worked('closed', done, { closedAt: 8, closeReason: 'not needed' })]: ['closed', 'closed', 8],
    [await worked('open\nand more', done, {})]: ['open', 'open', null],
    [await worked('nothing', done, null)]: ['no-pr', 'nothing', 5],
    [await worked('failed', { outcome: 'failed', endedAt: 5, detail: 'it broke' }, null)]: ['failed', 'failed', 5],
    [await worked('gave up', done, null, { completion: { at: 7, summary: null, failure: 'no way' } })]: [
      'failed',
      'gave up',
      7,
    ],
    [await worked('at it', {}, null)]: ['unknown', 'at it', null],
    [await worked('asks', { ...done, questions: [{ id: 'a', question: 'b' }] }, null)]: ['unknown', 'asks', 5],
  };
  const { tasks } = await daemon.client.taskHistory({ path: daemon.repository, limit: 8 });
  const seen = tasks.map(({ agent: { id }, state, task, endedAt }) => [id, [state, task, endedAt]]);
  expect(Object.fromEntries(seen)).toEqual(expected);
  // Newest first.
  expect(seen.map(([id]) => id)).toEqual(Object.keys(expected).toReversed());
});

test('the default limit is ten, and an agent sees its own project’s [W4-10]', async () => {
  const { client } = await agent();
  for (let count = 0; count < 11; count++) {
    const { agent: old } = await agent({ branch: `work/old-${count}`, endedAt: 1, endReason: 'killed' });
    const run = runRecord({ agentId: old.id, projectId, outcome: 'cancelled', endedAt: 1 });
    await inStore(daemon.home.root, (store) => store.write((tx) => insertRun(tx, run)));
  }
  expect((await daemon.client.taskHistory()).tasks).toHaveLength(10);
  expect((await client.taskHistory({ limit: 11 })).tasks).toHaveLength(11);
});

test('a note reaches the author by mail, a blocking comment by the queue', async () => {
  const { change, agent: self } = await ownChange();
  const mine = () => inStore(daemon.home.root, (store) => listMail(store.db, { toId: self.id, limit: 10 }));
  await daemon.client.commentChange(change.id, { body: 'have you seen\nthe other one?' });
  expect((await mine()).map(({ kind, body }) => [kind, body])).toEqual([
    ['system', expect.stringContaining('> have you seen\n> the other one?')],
  ]);
  await daemon.client.commentChange(change.id, { body: '[BLOCKING] no' });
  expect(await mine()).toHaveLength(1);
});

test('a project with an unreadable config still shows its changes, with the error', async () => {
  await using other = await startTestDaemon();
  const { client, repository } = other;
  const change = await propose(client, repository, 'topic/a', { 'a.txt': 'a\n' });
  expect(change).toMatchObject({ state: 'blocked', detail: expect.stringContaining('no checks') });
  mkdirSync(join(repository, '.pawl'), { recursive: true });
  writeFileSync(join(repository, '.pawl', 'config.yaml'), 'checks: {');
  const [queue] = (await client.listQueues({ path: repository })).queues;
  expect(queue).toMatchObject({ trouble: expect.stringContaining('.pawl/config.yaml'), changes: [{ id: change.id }] });
  expect((await client.listChanges()).changes).toMatchObject([
    { id: change.id, state: 'blocked', detail: queue?.trouble },
  ]);
  await commitOn(repository, 'topic/b', { 'b.txt': 'b\n' });
  await expect(client.openChange({ path: repository, branch: 'topic/b' })).rejects.toMatchObject({
    code: 'invalid_input',
  });
});
