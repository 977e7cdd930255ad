import type { Client } from '@pawl/protocol/client';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { patienceMs, waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runEnded, writeScenario } from '../support/daemon.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { committing } from '../support/errand.ts';
import { commitFiles, configWith } from '../support/merge-queue.ts';

/** Between the merge and its record, between that and settling the task, and after it. */
const points: CrashPoint[] = ['advance.after_ref', 'advance.after_record', 'landing.after_record'];

test(
  'a task whose change has landed when the daemon is killed is completed once, and its dependents start once [W3-06]',
  { timeout: 300_000 },
  async () => {
    await using place = await temporaryDirectory();
    const [home, repository] = [join(place.path, 'home'), join(place.path, 'sample')];
    await sampleRepository(repository);
    await commitFiles(repository, { '.pawl/config.yaml': configWith('echo passed', 'fixer: false\n') });
    const steps = [...committing('one.txt', 'one'), 'complete'];
    const take = async (client: Client, scenario: string) => {
      const body = { path: repository, task: '', planned: '@next', provider: 'scripted', options: { scenario } };
      return (await client.work(body, randomUUID())).agent;
    };
    let first = '';
    let second = '';
    for (const [number, point] of points.entries()) {
      const daemon = await readyDaemon(home, { crashAt: point });
      if (number === 0) {
        const { client } = daemon;
        await client.addProject({ path: repository });
        first = (await client.addTask({ path: repository, name: 'first' })).task.id;
        second = (await client.addTask({ path: repository, name: 'second', after: [first] })).task.id;
        await take(client, await writeScenario(place.path, steps));
      }
      const timer = setTimeout(() => daemon.child.kill('SIGTERM'), patienceMs);
      expect([point, (await daemon.exited).signal]).toEqual([point, 'SIGKILL']);
      clearTimeout(timer);
    }
    const last = await readyDaemon(home);
    try {
      const { client } = last;
      await waitUntil(async () => (await client.showTask(first)).task.state === 'completed', {
        what: 'the landed task to be completed',
      });
      expect(await git(repository, ['show', 'main:one.txt'])).toBe('one');
      // Two request the next task at once: one of them gets it, on a main that contains its dependency.
      const scenario = await writeScenario(place.path, ['complete']);
      const taken = await Promise.allSettled([take(client, scenario), take(client, scenario)]);
      const began = taken.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      expect(began.map(({ taskId }) => taskId)).toEqual([second]);
      expect(taken.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'not_found' } });
      const [agent] = began;
      expect(await git(repository, ['show', `${agent?.baseCommit}:one.txt`])).toBe('one');
      await runEnded(client, agent?.id ?? '');
      await waitUntil(async () => (await client.showTask(second)).task.state === 'completed', {
        what: 'the second task to be completed',
      });
      const { events } = await client.events({ limit: 1000 });
      const completed = events.filter(({ type }) => type === 'task.completed').map(({ data }) => data['taskId']);
      expect(completed).toEqual([first, second]);
      expect(events.filter(({ type }) => type === 'change.merged')).toHaveLength(1);
    } finally {
      await last.kill('SIGTERM');
    }
  },
);
