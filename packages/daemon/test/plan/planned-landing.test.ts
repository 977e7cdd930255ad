import type { TaskView } from '@pawl/protocol/plan/view';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';
import { committing } from '../support/errand.ts';
import { checkScript, commitFiles, configWith } from '../support/merge-queue.ts';

/** Each of these waits for agents and checks, one after the other. */
async function startPlan(more = ''): Promise<TestDaemon> {
  const daemon = await startTestDaemon();
  const config = configWith('sh check.sh', `fixer: false\n${more}`);
  await commitFiles(daemon.repository, { 'check.sh': checkScript(), '.pawl/config.yaml': config });
  return daemon;
}

async function added({ client, repository }: TestDaemon, name: string, after: string[] = []): Promise<TaskView> {
  return (await client.addTask({ path: repository, name, after })).task;
}

const take = (daemon: TestDaemon, steps: unknown[], planned = '@next') => daemon.work(steps, { task: '', planned });

async function becomes({ client }: TestDaemon, task: TaskView, state: TaskView['state']): Promise<TaskView> {
  return waitUntil(
    async () => {
      const { task: now } = await client.showTask(task.id);
      if (now.state === state) return now;
      throw new Error(`it is ${now.state}: ${now.detail}`);
    },
    { what: `${task.name} to be ${state}` },
  );
}

test('a planned task is completed when its change has landed, and the next one starts on a main that contains it [W3-06]', async () => {
  await using daemon = await startPlan();
  const { client, repository } = daemon;
  await client.pauseQueue({ path: repository });
  const first = await added(daemon, 'first');
  const second = await added(daemon, 'second', [first.id]);
  const worker = await take(daemon, [...committing('one.txt', 'one'), { complete: { summary: 'one is there' } }]);
  await daemon.ended(worker.id);
  const waiting = await waitUntil(
    async () => {
      const { task } = await client.showTask(first.id);
      return task.change === null ? null : task;
    },
    { what: 'its change' },
  );
  expect(waiting).toMatchObject({ state: 'in_review', agent: { id: worker.id }, summary: 'one is there' });
  expect(waiting.detail).toBe(`its change ${waiting.change?.id.slice(0, 8)} is queued`);
  expect((await client.showTask(second.id)).task).toMatchObject({
    state: 'blocked',
    detail: 'waits for first (in review)',
  });
  await expect(take(daemon, ['complete'])).rejects.toMatchObject({ code: 'not_found' });
  // Neither the end of its agent nor a restart requeues finished work.
  await client.killAgent(worker.id, {});
  expect((await client.showTask(first.id)).task.state).toBe('in_review');
  await client.resumeQueue({ path: repository });
  expect(await becomes(daemon, first, 'completed')).toMatchObject({ agent: null, change: null });
  const next = await take(daemon, ['complete']);
  expect(next.taskId).toBe(second.id);
  expect(await git(repository, ['show', `${next.baseCommit}:one.txt`])).toBe('one');
  await daemon.ended(next.id);
  // There was nothing to propose.
  await becomes(daemon, second, 'completed');
});

test('a planned task whose change is closed is blocked with the reason, and can be retried or marked done', async () => {
  await using daemon = await startPlan();
  const { client, repository } = daemon;
  await client.pauseQueue({ path: repository });
  const task = await added(daemon, 'only');
  await daemon.ended((await take(daemon, [...committing('a.txt', 'a'), 'complete'])).id);
  const { change } = await waitUntil(
    async () => {
      const { task: now } = await client.showTask(task.id);
      return now.change === null ? null : now;
    },
    { what: 'its change' },
  );
  await client.closeChange(change?.id ?? '', { reason: 'not like this' });
  const blocked = await becomes(daemon, task, 'blocked');
  expect(blocked).toMatchObject({ agent: null, change: null, crashes: 0 });
  expect(blocked.detail).toBe(`its change ${change?.id.slice(0, 8)} was closed: not like this`);
  await client.changeTask(task.id, 'unblock', {});
  // The closed change of the first attempt does not affect the second.
  const again = await take(daemon, ['complete'], task.id);
  await daemon.ended(again.id);
  await becomes(daemon, task, 'completed');
});

test('without a merge queue, a planned task is completed when its work is finished', async () => {
  await using daemon = await startPlan('queue: {enabled: false}\n');
  const task = await added(daemon, 'only');
  await daemon.ended((await take(daemon, [...committing('a.txt', 'a'), 'complete'])).id);
  await becomes(daemon, task, 'completed');
});
