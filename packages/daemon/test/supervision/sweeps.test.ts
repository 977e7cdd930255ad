import { createHealth } from '@pawl/daemon/supervision/health';
import { startDelivery } from '@pawl/daemon/mail/delivery';
import { createWaiters } from '@pawl/daemon/mail/waiters';
import type { Reconciler } from '@pawl/daemon/sessions/reconcile/reconciler';
import { startLoops } from '@pawl/daemon/supervision/loops';
import type { Platform, Timing } from '@pawl/daemon/platform/platform';
import { limits } from '@pawl/schema/limit';
import { agentsToReconcile } from '@pawl/store/agents/agent-views';
import { updateAgent } from '@pawl/store/agents/agents';
import { waitUntil } from '@pawl/testing/wait-until';
import { expect, test } from 'vitest';
import { openMailHome } from '../support/mail-home.ts';

/** A reconciler that records whose turn came, without sessions. */
function recorder({ store }: Pick<Platform, 'store'>) {
  const [woken, visited] = [new Set<string>(), new Set<string>()];
  const inLane: Reconciler['inLane'] = (agentId, act) => {
    visited.add(agentId);
    return act();
  };
  const sweep = async () => {
    const found = await agentsToReconcile(store.db);
    for (const { agent } of found) woken.add(agent.id);
    return found;
  };
  const reconciler = { sweep, inLane } as unknown as Reconciler;
  return { reconciler, woken, visited };
}

test('the sweep finds waiting mail without an event, each time, for its recipient only [S4-18, W4-01, W4-20]', async () => {
  await using place = await openMailHome();
  const { platform, fox, owl } = place;
  // Sent while no daemon ran: nothing wakes the delivery.
  await place.send(fox, owl, 'are you there?');
  const { reconciler, visited } = recorder(platform);
  const delivery = startDelivery(
    { ...platform, timing: { ...platform.timing, routeMs: 1 } },
    reconciler,
    createWaiters(() => {}),
  );
  await waitUntil(() => visited.has(owl.id), { what: 'the sweep by its timer' });
  visited.clear();
  await waitUntil(() => visited.has(owl.id), { what: 'the next one' });
  await delivery.close();
  expect([...visited]).toEqual([owl.id]);
  const later = recorder(platform);
  const atStart = startDelivery(
    platform,
    later.reconciler,
    createWaiters(() => {}),
  );
  await atStart.sweep();
  await atStart.close();
  expect([...later.visited]).toEqual([owl.id]);
});

test('health wakes completed agents that still live, and no other idle ones [S4-24, W4-01]', async () => {
  await using place = await openMailHome();
  const { platform, store, fox, owl, elk } = place;
  const completion = { at: 1, summary: null, failure: null };
  await store.write(async (tx) => {
    await updateAgent(tx, owl.id, { completion });
    await updateAgent(tx, elk.id, { completion, endedAt: 2, endReason: 'completed' });
  });
  const { reconciler, woken } = recorder(platform);
  const tended: string[] = [];
  const health = createHealth(platform, {
    reconciler,
    signals: { resume: () => Promise.reject(new Error('nobody is to be restarted')) },
    crews: { tend: async () => void tended.push('crews') },
    leaving: { tend: async () => void tended.push('leaving') },
  });
  await health.tick(1);
  expect([...woken]).toEqual([owl.id]);
  expect(woken.has(fox.id)).toBe(false);
  expect(tended).toEqual(['leaving', 'crews']);
});

test('the loops: health at once and then periodically, nudges after the first interval, no overlap, none after the end [W4-01]', async () => {
  const looks = { health: 0, nudges: 0 };
  const second = Promise.withResolvers<void>();
  const health = {
    tick: async () => {
      looks.health += 1;
      if (looks.health === 2) await second.promise;
    },
  };
  const nudges = { tick: async () => void (looks.nudges += 1) };
  const loops = startLoops({ timing: { healthMs: 1, nudgeMs: 1 } as Timing } as Platform, { health, nudges });
  expect(looks).toEqual({ health: 1, nudges: 0 });
  await waitUntil(() => looks.health === 2, { what: 'the second look' });
  // Time passes for the other loop while this tick takes long.
  const { nudges: before } = looks;
  await waitUntil(() => looks.nudges > before + 3, { what: 'nudges meanwhile' });
  expect(looks.health).toBe(2);
  const closing = loops.close();
  second.resolve();
  await closing;
  const after = { ...looks };
  await Promise.all([loops.health(), loops.nudges()]);
  expect(looks).toEqual(after);
});

test('mail is swept every two minutes, health and nudges run every minute, worktrees are refreshed every five, first after 30 s [W4-01, S4-18]', () => {
  const seconds = (ms: number) => ms / 1_000;
  const { routeMs, healthMs, nudgeMs, nudgeGapMs, refreshMs, firstRefreshMs } = limits;
  const all = [routeMs, healthMs, nudgeMs, nudgeGapMs, refreshMs, firstRefreshMs].map(seconds);
  expect(all).toEqual([120, 60, 60, 120, 300, 30]);
});
