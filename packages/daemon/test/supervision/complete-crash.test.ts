import { strayProcesses } from '@pawl/host/session/stray';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { sampleOf } from '@pawl/testing/endurance';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cleanedUp, completionMails } from '../support/complete.ts';
import { writeScenario, viewOf } from '../support/daemon.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { outputHas } from '../support/output.ts';

/**
 * Where a daemon is killed while an agent completes: after the report, before and after the end of its run, and with
 * its worktree.
 */
const points: readonly CrashPoint[] = [
  'complete.after_record',
  'finish.after_flush',
  'finish.after_commit',
  'cleanup.after_trash',
];

test.each(sampleOf(points, 2))(
  'an agent that has completed when its daemon is killed at %s ends once, and is cleaned up [7.3, 7.11]',
  async (point) => {
    await using place = await temporaryDirectory();
    const [home, repository, gate] = ['home', 'sample', 'gate'].map((name) => join(place.path, name)) as [
      string,
      string,
      string,
    ];
    await sampleRepository(repository);
    const first = await readyDaemon(home, { crashAt: point });
    await first.client.addProject({ path: repository });
    const steps = [
      { write: { path: 'a.txt', content: 'a' } },
      { commit: 'a' },
      { say: 'standing by' },
      { shell: `while [ ! -e '${gate}' ]; do sleep 0.1; done` },
    ];
    const options = { scenario: await writeScenario(place.path, steps) };
    const request = { path: repository, task: 'a task', provider: 'scripted', options };
    const { agent } = await first.client.work(request, randomUUID());
    await outputHas(first.client, agent.id, 'standing by');
    await first.client.completeAgent(agent.id, { summary: 'it works' }).catch(() => null);
    if (point !== 'complete.after_record') writeFileSync(gate, '');
    expect((await first.exited).signal).toBe('SIGKILL');

    const second = await readyDaemon(home);
    try {
      // A caller without a response repeats the request, and nothing is recorded twice.
      expect(await second.client.completeAgent(agent.id, { summary: 'it works' })).toMatchObject({ isNew: false });
      writeFileSync(gate, '');
      expect(await cleanedUp(second.client, agent.id)).toMatchObject({
        detail: 'completed',
        run: { status: 'completed', detail: 'it works' },
        worktreeEnd: { state: 'trashed' },
      });
      expect(await completionMails(home, agent.id)).toHaveLength(1);
      const { events } = await second.client.events({ agent: agent.id, limit: 1000 });
      for (const type of ['agent.completed', 'session.ended', 'run.ended', 'agent.ended', 'worktree.trashed'])
        expect([type, events.filter((event) => event.type === type).length]).toEqual([type, 1]);
      const { sessions } = await second.client.inspectAgent(agent.id);
      expect(sessions.flatMap((session) => strayProcesses(session.id))).toEqual([]);
      expect(await git(repository, ['show', `work/${agent.alias}:a.txt`])).toBe('a');
    } finally {
      await second.kill('SIGTERM');
    }
  },
);

test('an idle agent that completes ends at the same moment, whatever happens to the daemon [7.3]', async () => {
  await using place = await temporaryDirectory();
  const [home, repository] = [join(place.path, 'home'), join(place.path, 'sample')];
  await sampleRepository(repository);
  const first = await readyDaemon(home, { crashAt: 'complete.after_record' });
  await first.client.addProject({ path: repository });
  const request = { path: repository, provider: 'scripted', switch: false };
  const { agent } = await first.client.fork('root', request, randomUUID());
  await first.client.completeAgent(agent.id, { failure: 'nobody needs it' }).catch(() => null);
  expect((await first.exited).signal).toBe('SIGKILL');
  const second = await readyDaemon(home);
  try {
    expect(await viewOf(second.client, agent.id)).toMatchObject({
      status: 'dead',
      detail: 'failed: nobody needs it',
    });
    expect((await cleanedUp(second.client, agent.id)).worktreeEnd?.state).toMatch(/trashed|missing/);
    expect(await completionMails(home, agent.id)).toHaveLength(1);
  } finally {
    await second.kill('SIGTERM');
  }
});
