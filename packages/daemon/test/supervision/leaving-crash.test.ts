import type { CrashPoint } from '@pawl/schema/crash-point';
import { sampleOf } from '@pawl/testing/endurance';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cleanedUp, completionMails } from '../support/complete.ts';
import { writeScenario } from '../support/daemon.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { commitFiles, configWith } from '../support/merge-queue.ts';

const points: readonly CrashPoint[] = [
  'finish.after_commit',
  'change.after_open',
  'leaving.after_announcement',
  'advance.after_ref',
  'advance.after_record',
  'leaving.after_end',
  'cleanup.after_trash',
];

test.each(sampleOf(points, 2))(
  'a worker that signalled done when its daemon is killed at %s is announced once and cleaned up once [7.12]',
  async (point) => {
    await using place = await temporaryDirectory();
    const [home, repository] = [join(place.path, 'home'), join(place.path, 'sample')];
    await sampleRepository(repository);
    await commitFiles(repository, { '.pawl/config.yaml': configWith('echo passed') });
    const first = await readyDaemon(home, { crashAt: point });
    await first.client.addProject({ path: repository });
    const steps = [{ write: { path: 'a.txt', content: 'a' } }, { commit: 'a' }, 'complete'];
    const options = { scenario: await writeScenario(place.path, steps) };
    const request = { path: repository, task: 'a task', provider: 'scripted', options };
    const { agent } = await first.client.work(request, randomUUID());
    expect((await first.exited).signal).toBe('SIGKILL');
    const second = await readyDaemon(home);
    try {
      expect(await cleanedUp(second.client, agent.id)).toMatchObject({
        detail: 'completed',
        worktreeEnd: { state: 'trashed' },
      });
      expect(await completionMails(home, agent.id)).toHaveLength(1);
      const { events } = await second.client.events({ agent: agent.id, limit: 1000 });
      for (const type of ['agent.finished', 'run.ended', 'agent.ended', 'worktree.trashed'])
        expect([type, events.filter((event) => event.type === type).length]).toEqual([type, 1]);
      await waitUntil(async () => existsSync(join(repository, 'a.txt')), { what: 'its change on main' });
    } finally {
      await second.kill('SIGTERM');
    }
  },
);
