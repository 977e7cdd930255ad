import type { AgentView } from '@pawl/protocol/agents/view';
import type { ChangeView } from '@pawl/protocol/changes/view';
import { limits } from '@pawl/schema/limit';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tokenOf } from '../support/mcp.ts';
import { changeEvents, patchChange, startQuietDaemon } from '../support/change.ts';
import { cleanedUp, completionMails } from '../support/complete.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { runEnded, startTestDaemon, writeScenario } from '../support/daemon.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { committing } from '../support/errand.ts';
import { commitFiles, commitOn, configWith } from '../support/merge-queue.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startQuietDaemon();
  const lasting = { kind: 'main', class: 'persistent', tools: ['*'], description: 'for this test' };
  daemon.define('lasting', { name: 'lasting', ...lasting });
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

const changesOf = async (agent: Pick<AgentView, 'id'>): Promise<ChangeView[]> =>
  (await daemon.client.listChanges({ path: daemon.repository, all: true })).changes.filter(
    ({ author }) => author?.id === agent.id,
  );

async function changeOf(agent: Pick<AgentView, 'id'>): Promise<ChangeView> {
  return waitUntil(async () => (await changesOf(agent))[0], { what: 'its change' });
}

/** Runs a queue pass and waits for it: the pass opens another agent's change meanwhile. */
async function afterLook(): Promise<void> {
  const agent = await daemon.ended((await daemon.work([...committing(`${randomUUID()}.txt`, 'x'), 'complete'])).id);
  await changeOf(agent);
}

describe('finished work becomes a change [S4-10]', () => {
  test('when its agent completes; the notices name the change [W4-08]', async () => {
    const agent = await daemon.work([...committing('done.txt', 'x'), 'complete', 'hang'], { task: 'Do it\nwith care' });
    await daemon.ended(agent.id);
    const token = tokenOf(daemon.home, agent.id);
    await daemon.client.completeAgent(agent.id, { summary: `it works ${token}` });
    const change = await changeOf(agent);
    expect(change).toMatchObject({
      title: 'write done.txt',
      branch: `work/${agent.alias}`,
      author: { alias: agent.alias },
    });
    expect(change.head).toBe(await git(daemon.repository, ['rev-parse', `work/${agent.alias}`]));
    expect(change.queuedAt).not.toBeNull();
    expect(JSON.stringify(change)).not.toContain(token);
    const [mail] = await completionMails(daemon.home.root, agent.id);
    expect(mail?.body).toContain(`Change: ${change.id}`);
    expect(mail?.body).toContain(
      `a person merges its change when its checks pass (\`pawl change merge ${change.id}\`)`,
    );
    await cleanedUp(daemon.client, agent.id);
    expect(await changesOf(agent)).toHaveLength(1);
    // W4-10: its worktree is gone, and its outcome is still known.
    const { tasks } = await daemon.client.taskHistory({ path: daemon.repository });
    expect(tasks).toMatchObject([{ agent: { id: agent.id }, task: 'Do it', state: 'open', changeId: change.id }]);
  });

  test('when its run ends; its final message is the summary', async () => {
    const steps = [...committing('ended.txt', 'x'), { complete: { summary: 'all there' } }];
    const agent = await daemon.ended((await daemon.work(steps)).id);
    const change = await changeOf(agent);
    expect(change.summary).toBe('all there');
    expect(await changeEvents(daemon.client, change.id, 'change.opened')).toHaveLength(1);
  });

  test('at once for callers that wait for its result', async () => {
    for (const name of ['one', 'two', 'three']) {
      const agent = await daemon.work([...committing(`waited-${name}.txt`, 'x'), { signal: 'done' }]);
      const { run } = await daemon.client.runResult(agent.run?.id ?? '', { waitMs: limits.resultWaitMs });
      expect(run.status).toBe('completed');
      expect(await changesOf(agent)).toHaveLength(1);
    }
  });

  test('a later turn’s summary replaces an earlier automatic one, never a given one', async () => {
    const turns = [...committing('t1.txt', 'x'), { complete: { summary: 'first' } }, ...committing('t2.txt', 'x')];
    const agent = await daemon.ended((await daemon.work([...turns, { complete: { summary: 'second' } }])).id);
    expect((await changeOf(agent)).summary).toBe('first');
    await daemon.client.sendMail({ to: agent.alias, body: 'one thing more' }, randomUUID());
    await waitUntil(async () => (await changeOf(agent)).summary === 'second', { what: 'the summary of the last turn' });
    const given = [...committing('t3.txt', 'x'), { pawl: ['change', 'open', '--summary', 'as I say'] }, 'complete'];
    const other = await daemon.ended((await daemon.work([...given, ...committing('t4.txt', 'x'), 'complete'])).id);
    const { head } = await changeOf(other);
    await daemon.client.sendMail({ to: other.alias, body: 'one thing more' }, randomUUID());
    await waitUntil(async () => (await changeOf(other)).head !== head, { what: 'the change to move' });
    expect((await changeOf(other)).summary).toBe('as I say');
  });

  test('a change that the agent opened itself follows its later commits, and keeps its text', async () => {
    const agent = await daemon.work([
      ...committing('one.txt', 'x'),
      { pawl: ['change', 'open', '--title', 'My words', '--summary', 'as I say', '--draft'] },
      ...committing('two.txt', 'x'),
      'complete',
    ]);
    await daemon.ended(agent.id);
    const head = await git(daemon.repository, ['rev-parse', `work/${agent.alias}`]);
    const change = await waitUntil(async () => (await changesOf(agent)).find((each) => each.head === head), {
      what: 'its change to follow',
    });
    // A draft was not asked to be merged.
    expect(change).toMatchObject({ title: 'My words', summary: 'as I say', queuedAt: null });
    expect(await changesOf(agent)).toHaveLength(1);
  });

  test('but nothing of a reviewer, of one without commits, or of work that was closed or taken over, even if its branch moves', async () => {
    const commits = committing('other.txt', 'x');
    const agents = await Promise.all([
      daemon.work([...commits, 'complete'], { mode: 'review' }),
      daemon.work(['complete']),
      daemon.work([...committing('closed.txt', 'x'), 'complete']),
      daemon.work([...committing('taken.txt', 'x'), 'complete', 'complete']),
    ]);
    for (const { id } of agents) await daemon.ended(id);
    const [reviewer, idle, closed, taken] = agents;
    const dropped = await changeOf(closed);
    await daemon.client.closeChange(dropped.id, { reason: 'no' });
    await commitOn(daemon.repository, dropped.branch, { 'late.txt': 'x' }, dropped.branch);
    const change = await changeOf(taken);
    const head = await commitOn(daemon.repository, 'work/other', { 'resolved.txt': 'x' }, change.branch);
    const root = (await daemon.client.inspectAgent('root', { worktree: false })).agent;
    await patchChange(daemon, change, { standInId: root.id, agentId: root.id, branch: 'work/other', head });
    // Another message ends another run, which is examined again.
    await daemon.client.resumeAgent(taken.id, { prompt: 'thanks' }, randomUUID());
    await daemon.ended(taken.id);
    await afterLook();
    for (const agent of [reviewer, idle]) expect(await changesOf(agent)).toEqual([]);
    expect(await changesOf(taken)).toMatchObject([{ id: change.id, agentId: root.id, head }]);
    expect(await changesOf(closed)).toMatchObject([{ id: dropped.id, state: 'closed' }]);
  });

  test('except for an agent over budget, unless a person proposes it', async () => {
    const usage = { usage: { input: 900, output: 200, cost: 0 } };
    const agent = await daemon.work([...committing('spent.txt', 'x'), usage, 'complete'], {
      budget: { tokens: 1_000 },
    });
    expect(await daemon.ended(agent.id)).toMatchObject({ activity: 'over_budget' });
    await afterLook();
    expect(await changesOf(agent)).toEqual([]);
    const { change } = await daemon.client.openChange({ path: daemon.repository, branch: `work/${agent.alias}` });
    expect(change.author?.id).toBe(agent.id);
  });

  test('a project without checks gets a change only on request', async () => {
    await using other = await startTestDaemon();
    const agent = await other.work([...committing('a.txt', 'x'), 'complete']);
    await other.ended(agent.id);
    await other.client.completeAgent(agent.id, {});
    await cleanedUp(other.client, agent.id);
    expect((await other.client.listChanges({ all: true })).changes).toEqual([]);
    const branch = `work/${agent.alias}`;
    const { change } = await other.client.openChange({ path: other.repository, branch });
    // A scripted change is a draft outside a playground.
    expect(change).toMatchObject({ state: 'open', author: { id: agent.id } });
  });
});

test('a daemon killed at change.after_open has stored the change once, and the next one continues with it', async () => {
  await using place = await temporaryDirectory();
  const [home, repository] = ['home', 'sample'].map((name) => join(place.path, name)) as [string, string];
  await sampleRepository(repository);
  await commitFiles(repository, { '.pawl/config.yaml': configWith('echo passed', 'queue: {enabled: false}\n') });
  const options = { scenario: await writeScenario(place.path, [...committing('a.txt', 'x'), 'hang']) };
  const first = await readyDaemon(home, { crashAt: 'change.after_open' });
  await first.client.addProject({ path: repository });
  const request = { path: repository, task: 'a task', provider: 'scripted', options };
  const { agent } = await first.client.work(request, randomUUID());
  const branch = `work/${agent.alias}`;
  const hasCommit = async () =>
    (await git(repository, ['rev-list', '--count', `main..${branch}`]).catch(() => '0')) === '1';
  await waitUntil(hasCommit, { what: 'its commit' });
  await first.client.completeAgent(agent.id, { summary: 'it works' }).catch(() => null);
  expect((await first.exited).signal).toBe('SIGKILL');
  const second = await readyDaemon(home);
  try {
    const { isNew } = await second.client.completeAgent(agent.id, { summary: 'it works' });
    expect(isNew).toBe(true);
    await second.client.stopAgent(agent.id);
    await runEnded(second.client, agent.id);
    const { changes } = await second.client.listChanges({ all: true });
    expect(changes).toMatchObject([{ branch, title: 'write a.txt', summary: 'it works', author: { id: agent.id } }]);
    expect(await changeEvents(second.client, changes[0]?.id ?? '', 'change.opened')).toHaveLength(1);
    expect(await completionMails(home, agent.id)).toHaveLength(1);
  } finally {
    await second.kill('SIGTERM');
  }
});
