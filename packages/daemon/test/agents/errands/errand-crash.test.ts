import type { CrashPoint } from '@pawl/schema/crash-point';
import { sampleOf } from '@pawl/testing/endurance';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runEnded, writeScenario, viewOf } from '../../support/daemon.ts';
import { readyDaemon } from '../../support/daemon-process.ts';
import { committing } from '../../support/errand.ts';

const points: CrashPoint[] = ['merge.after_intent', 'merge.after_ref', 'merge.after_files', 'merge.after_end'];

test.each(sampleOf(points, 2))(
  'a merge killed at %s is completed by the next daemon, or has changed nothing',
  async (point) => {
    await using place = await temporaryDirectory();
    const home = join(place.path, 'home');
    const repository = join(place.path, 'sample');
    await sampleRepository(repository);
    const before = await git(repository, ['rev-parse', 'main']);
    const scenario = await writeScenario(place.path, [...committing('a.txt', 'a\n'), 'complete']);
    const request = {
      path: repository,
      task: 'fix it',
      provider: 'scripted',
      mode: 'errand',
      options: { scenario },
    } as const;
    const first = await readyDaemon(home, { crashAt: point });
    await first.client.addProject({ path: repository });
    const { agent } = await first.client.work(request, randomUUID());
    await runEnded(first.client, agent.id);
    const tip = await git(repository, ['rev-parse', `work/${agent.alias}`]);
    await first.client.mergeErrand(agent.id, {}).catch(() => null);
    expect((await first.exited).signal).toBe('SIGKILL');
    const second = await readyDaemon(home);
    try {
      const changed = point !== 'merge.after_intent';
      expect(await git(repository, ['rev-parse', 'main'])).toBe(changed ? tip : before);
      expect(await git(repository, ['status', '--porcelain'])).toBe('');
      expect((await viewOf(second.client, agent.id)).status).toBe(changed ? 'dead' : 'running');
      expect(await second.client.mergeErrand(agent.id, {})).toMatchObject({
        into: 'main',
        commit: tip,
        already: changed,
      });
      expect(await git(repository, ['rev-parse', 'main'])).toBe(tip);
      expect(await git(repository, ['status', '--porcelain'])).toBe('');
      await waitUntil(async () => (await viewOf(second.client, agent.id)).worktreeEnd?.state === 'trashed', {
        what: 'the worktree to be in the trash',
      });
      const { events } = await second.client.events({ agent: agent.id, limit: 1000 });
      expect(events.filter(({ type }) => type === 'errand.merged')).toHaveLength(1);
      expect(events.filter(({ type }) => type === 'agent.killed')).toHaveLength(1);
    } finally {
      await second.kill('SIGTERM');
    }
  },
);
