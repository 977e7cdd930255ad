import type { CrashPoint } from '@pawl/schema/crash-point';
import { sampleOf } from '@pawl/testing/endurance';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runEnded, writeScenario } from '../support/daemon.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { mailIs, send, shownOrder, statesOf } from '../support/mail.ts';
import { outputHas } from '../support/output.ts';

const livePoints: CrashPoint[] = ['mail.after_record', 'mail.after_claim', 'mail.after_write'];

/** A home with a project; scenarios are beside it. */
async function aPlace(path: string) {
  const [home, repository] = [join(path, 'home'), join(path, 'sample')];
  await sampleRepository(repository);
  return {
    home,
    repository,
    request: async (steps: unknown[]) => {
      const options = { scenario: await writeScenario(path, steps) };
      return { path: repository, task: 'a task', provider: 'scripted', options };
    },
  };
}

describe('a daemon killed while it delivers mail loses none and delivers none twice [fault 3]', () => {
  test.each(sampleOf(livePoints, 1))('to a running turn, at %s', async (point) => {
    await using place = await temporaryDirectory();
    const { home, repository, request } = await aPlace(place.path);
    const first = await readyDaemon(home, { crashAt: point });
    await first.client.addProject({ path: repository });
    const { agent } = await first.client.work(await request([{ say: 'standing by' }, 'hang']), randomUUID());
    await outputHas(first.client, agent.id, 'standing by');
    const keys = [randomUUID(), randomUUID()] as const;
    const [body, other] = ['the first', 'the second'];
    await send(first.client, agent.id, body, keys[0]).catch(() => null);
    expect((await first.exited).signal).toBe('SIGKILL');
    const second = await readyDaemon(home);
    try {
      // The same requests again, as a command repeats them after a broken connection.
      const ids = [
        await send(second.client, agent.id, body, keys[0]),
        await send(second.client, agent.id, other, keys[1]),
      ];
      for (const id of ids) await mailIs(second.client, id, 'delivered');
      for (const id of ids) expect(await statesOf(second.client, id)).toEqual(['sent', 'delivered']);
      expect(await shownOrder(second.client, agent.id, ids)).toEqual(ids);
      expect((await second.client.inspectAgent(agent.id)).sessions).toHaveLength(1);
      await second.client.stopAgent(agent.id);
    } finally {
      await second.kill('SIGTERM');
    }
  });

  test('to an idle agent, right after its turn was started', async () => {
    await using place = await temporaryDirectory();
    const { home, repository, request } = await aPlace(place.path);
    const first = await readyDaemon(home, { crashAt: 'mail.after_wake' });
    await first.client.addProject({ path: repository });
    const steps = [{ say: 'first' }, 'complete', { say: 'again' }, 'complete'];
    const { agent } = await first.client.work(await request(steps), randomUUID());
    await runEnded(first.client, agent.id);
    const key = randomUUID();
    await send(first.client, agent.id, 'one thing more', key).catch(() => null);
    expect((await first.exited).signal).toBe('SIGKILL');
    const second = await readyDaemon(home);
    try {
      const id = await send(second.client, agent.id, 'one thing more', key);
      await mailIs(second.client, id, 'read');
      await runEnded(second.client, agent.id);
      const { runs, sessions } = await second.client.inspectAgent(agent.id);
      expect([runs.length, sessions.length]).toEqual([2, 2]);
      expect(await shownOrder(second.client, agent.id, [id])).toEqual([id]);
    } finally {
      await second.kill('SIGTERM');
    }
  });

  test('to the dead, which is a dead letter once, and reported once', async () => {
    await using place = await temporaryDirectory();
    const { home, repository, request } = await aPlace(place.path);
    const first = await readyDaemon(home, { crashAt: 'mail.after_dead_letter' });
    await first.client.addProject({ path: repository });
    const { agent } = await first.client.work(await request([{ say: 'standing by' }, 'hang']), randomUUID());
    await outputHas(first.client, agent.id, 'standing by');
    await first.client.stopAgent(agent.id);
    const id = await send(first.client, agent.id, 'too late');
    await first.client.killAgent(agent.id, {}).catch(() => null);
    expect((await first.exited).signal).toBe('SIGKILL');
    const second = await readyDaemon(home);
    try {
      await mailIs(second.client, id, 'dead_lettered');
      expect(await statesOf(second.client, id)).toEqual(['sent', 'dead_lettered']);
      const { events } = await second.client.events({ limit: 1000 });
      expect(events.filter(({ type, data }) => type === 'mail.sent' && data['kind'] === 'system')).toHaveLength(1);
    } finally {
      await second.kill('SIGTERM');
    }
  });
});
