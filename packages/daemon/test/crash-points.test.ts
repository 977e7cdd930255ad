import { strayProcesses } from '@pawl/host/stray';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { crashPoints } from '@pawl/schema/crash-point';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runEnded, writeScenario } from './support/daemon.ts';
import type { DaemonProcess } from './support/daemon-process.ts';
import { readyDaemon, spawnDaemon } from './support/daemon-process.ts';
import { outputDifferences, outputHas } from './support/output.ts';

/** Points that are passed on the way up, before anybody can ask for anything. */
const startPoints: readonly CrashPoint[] = ['store.during_migration', 'store.during_backup'];
/** Points that are passed when somebody stops an agent. */
const stopPoints: readonly CrashPoint[] = ['stop.after_request', 'stop.after_processes'];
const workPoints = crashPoints.filter((point) => !startPoints.includes(point) && !stopPoints.includes(point));

test.each(startPoints)('a start that is killed at %s is made good by the next', async (point) => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  expect((await spawnDaemon(home, { crashAt: point }).exited).signal).toBe('SIGKILL');
  const daemon = await readyDaemon(home);
  try {
    expect((await daemon.client.daemon()).trouble).toBeNull();
    const { events } = await daemon.client.events();
    expect(events.filter((event) => event.type === 'agent.forked')).toHaveLength(1);
    expect(events.filter((event) => event.type === 'store.restored')).toEqual([]);
  } finally {
    await daemon.kill('SIGTERM');
  }
  expect(readdirSync(join(home, 'backups')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test.each(workPoints)('an agent whose daemon is killed at %s runs once, and to the end', async (point) => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const repository = join(place.path, 'sample');
  const marker = join(place.path, 'ran');
  await sampleRepository(repository);
  const scenario = await writeScenario(place.path, [
    { shell: `echo ran >> '${marker}'` },
    { flood: { lines: 500 } },
    { write: { path: 'a.txt', content: 'a' } },
    { commit: 'a' },
    'complete',
  ]);
  const request = { path: repository, task: 'a task', provider: 'scripted', options: { scenario } };
  const key = randomUUID();

  const first = await readyDaemon(home, { crashAt: point });
  await first.client.addProject({ path: repository });
  await first.client.work(request, key).catch(() => null);
  expect((await first.exited).signal).toBe('SIGKILL');

  const second = await readyDaemon(home);
  try {
    const { agent } = await second.client.work(request, key);
    expect((await runEnded(second.client, agent.id)).run?.status).toBe('completed');
    expect((await second.client.listAgents()).agents).toHaveLength(1);
    expect(await leftBehind(second, agent.id)).toEqual({ sessions: 1, processes: 0, differences: [] });
    expect(readFileSync(marker, 'utf8')).toBe('ran\n');
    expect(await git(repository, ['for-each-ref', '--format=%(refname:short)', 'refs/heads'])).toBe(
      `main\nwork/${agent.alias}`,
    );
    expect((await git(repository, ['worktree', 'list', '--porcelain'])).match(/^worktree /gm)).toHaveLength(2);
    const { events } = await second.client.events({ agent: agent.id });
    for (const type of ['agent.forked', 'worktree.created', 'session.started', 'session.ended', 'run.ended']) {
      expect(events.filter((event) => event.type === type)).toHaveLength(1);
    }
  } finally {
    await second.kill('SIGTERM');
  }
});

test.each(stopPoints)('a stop that is killed at %s is finished by the next daemon', async (point) => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const repository = join(place.path, 'sample');
  await sampleRepository(repository);
  const scenario = await writeScenario(place.path, [{ say: 'standing by' }, 'hang']);
  const first = await readyDaemon(home, { crashAt: point });
  await first.client.addProject({ path: repository });
  const request = { path: repository, task: 'a task', provider: 'scripted', options: { scenario } };
  const { agent } = await first.client.work(request, randomUUID());
  await outputHas(first.client, agent.id, 'standing by');
  await first.client.stopAgent(agent.id).catch(() => null);
  expect((await first.exited).signal).toBe('SIGKILL');
  const second = await readyDaemon(home);
  try {
    expect((await runEnded(second.client, agent.id)).run?.status).toBe('cancelled');
    expect(await leftBehind(second, agent.id)).toEqual({ sessions: 1, processes: 0, differences: [] });
  } finally {
    await second.kill('SIGTERM');
  }
});

async function leftBehind({ client }: DaemonProcess, agentId: string) {
  const { sessions } = await client.inspectAgent(agentId);
  return {
    sessions: sessions.length,
    processes: sessions.flatMap((session) => strayProcesses(session.id)).length,
    differences: await outputDifferences(client, agentId),
  };
}
