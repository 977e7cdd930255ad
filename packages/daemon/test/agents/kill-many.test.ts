import { strayProcesses } from '@pawl/host/session/stray';
import { endurance } from '@pawl/testing/endurance';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeScenario } from '../support/daemon.ts';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { readyDaemon } from '../support/daemon-process.ts';

const family = endurance({ whole: 60, small: 12 });
const alive = endurance({ whole: 15, small: 4 });

/** A tree of agents, some of them running, each forked from an earlier one. */
async function growFamily(daemon: DaemonProcess, path: string): Promise<{ top: string; sessions: string[] }> {
  const repository = join(path, 'sample');
  await sampleRepository(repository);
  const { client } = daemon;
  await client.addProject({ path: repository });
  const options = { scenario: await writeScenario(path, ['hang']) };
  const { agent } = await client.work(
    { path: repository, task: 'a task', provider: 'scripted', options },
    randomUUID(),
  );
  const ids = [agent.id];
  while (ids.length < family) {
    const parent = ids[Math.floor(ids.length / 2)] ?? agent.id;
    const body = { switch: false, options, ...(ids.length < alive ? { prompt: 'go' } : {}) };
    ids.push((await client.fork(parent, body, randomUUID())).agent.id);
  }
  const running = async () =>
    (await client.listAgents({ limit: 1000 })).agents.filter(({ activity }) => activity === 'running');
  await waitUntil(async () => (await running()).length === alive, { what: 'the living to run' });
  return { top: agent.id, sessions: (await running()).map(({ session }) => session?.id ?? '') };
}

const left = (sessions: string[]) => sessions.flatMap((session) => strayProcesses(session)).length;

async function killEvents({ client }: DaemonProcess, target: string) {
  const { events } = await client.events({ agent: target });
  return events.filter(({ type }) => type === 'agent.killed').map(({ data }) => [data['count'], data['cascade']]);
}

test('a cascade over a large family leaves no process and one event with the count [S1-21, W1-12]', async () => {
  await using place = await temporaryDirectory();
  const daemon = await readyDaemon(join(place.path, 'home'));
  try {
    const { top, sessions } = await growFamily(daemon, place.path);
    expect(left(sessions)).toBeGreaterThan(0);
    const { killed } = await daemon.client.killAgent(top, { cascade: true });
    expect(killed).toHaveLength(family);
    expect(left(sessions)).toBe(0);
    expect(await killEvents(daemon, top)).toEqual([[family, true]]);
  } finally {
    await daemon.kill('SIGTERM');
  }
}, 300_000);

test('a kill that is interrupted half-way is completed by the next daemon [W1-12]', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const first = await readyDaemon(home);
  const { top, sessions } = await growFamily(first, place.path);
  const killing = first.client.killAgent(top, { cascade: true }).catch(() => null);
  // The registry has changed, and the processes are being ended.
  await waitUntil(async () => (await killEvents(first, top)).length === 1, { what: 'the kill to be on record' });
  await first.kill();
  await killing;
  const second = await readyDaemon(home);
  try {
    await waitUntil(() => left(sessions) === 0, { what: 'every process to be gone' });
    expect(await killEvents(second, top)).toEqual([[family, true]]);
    expect((await second.client.killAgent(top, { cascade: true })).killed).toEqual([]);
    const { agents } = await second.client.listAgents();
    expect(agents).toEqual([]);
  } finally {
    await second.kill('SIGTERM');
  }
}, 300_000);
