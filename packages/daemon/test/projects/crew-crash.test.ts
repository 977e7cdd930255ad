import type { CrashPoint } from '@pawl/schema/crash-point';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readyDaemon } from '../support/daemon-process.ts';

/** A home and a repository, with a daemon that is killed at a point. */
async function atPoint(point: CrashPoint) {
  const place = await temporaryDirectory();
  const [home, repository] = [join(place.path, 'home'), join(place.path, 'sample')];
  await sampleRepository(repository);
  const first = await readyDaemon(home, { crashAt: point });
  await first.client.addProject({ path: repository });
  return { place, home, repository, first, request: { path: repository, provider: 'scripted' } };
}

test('a crew whose daemon is killed after the first member is complete, once, after the next start', async () => {
  const { place, home, first, request } = await atPoint('crew.after_member');
  await using _ = place;
  await first.client.changeProjectSettings(request);
  await first.client.startCrew(request).catch(() => null);
  expect((await first.exited).signal).toBe('SIGKILL');
  const second = await readyDaemon(home);
  try {
    const living = async () => (await second.client.listAgents()).agents.map(({ definition }) => definition);
    await waitUntil(async () => (await living()).length === 3, { what: 'the crew' });
    expect((await second.client.startCrew(request)).wanted).toBe(true);
    expect((await living()).toSorted()).toEqual(['merge-queue', 'supervisor', 'workspace']);
    expect((await second.client.listAgents({ all: true })).agents).toHaveLength(4);
  } finally {
    await second.kill('SIGTERM');
  }
});

test('a crew whose daemon is killed while it is stopped is stopped by the next one', async () => {
  const { place, home, repository, first, request } = await atPoint('crew.after_stop');
  await using _ = place;
  await first.client.startCrew(request);
  await first.client.stopCrew({ path: repository }).catch(() => null);
  expect((await first.exited).signal).toBe('SIGKILL');
  const second = await readyDaemon(home);
  try {
    await waitUntil(async () => (await second.client.listAgents()).agents.length === 0, { what: 'its end' });
    expect(await second.client.crew({ path: repository })).toMatchObject({ wanted: false });
  } finally {
    await second.kill('SIGTERM');
  }
});

test('a checkout that was being updated to main when its daemon was killed is complete after the next start [S4-03]', async () => {
  const { place, home, repository, first, request } = await atPoint('detached.after_head');
  await using _ = place;
  const supervisor = (await first.client.startCrew(request)).members[0]?.agent;
  const path = `${supervisor?.worktree}`;
  const file = join(path, 'README.md');
  const isMade = async () =>
    (await first.client.events({ agent: `${supervisor?.id}`, limit: 100 })).events.some(
      ({ type }) => type === 'worktree.created',
    );
  await waitUntil(isMade, { what: 'its worktree' });
  writeFileSync(join(repository, 'README.md'), '# Moved\n');
  const someone = ['-c', 'user.name=Someone', '-c', 'user.email=someone@example.invalid'];
  await git(repository, [...someone, 'commit', '-qam', 'move']);
  const main = await git(repository, ['rev-parse', 'HEAD']);
  await first.client.sendMail({ to: `${supervisor?.id}`, body: 'look' }, randomUUID()).catch(() => null);
  expect((await first.exited).signal).toBe('SIGKILL');
  expect(await git(path, ['rev-parse', 'HEAD'])).toBe(main);
  expect(readFileSync(file, 'utf8')).toBe('# Sample\n');
  const second = await readyDaemon(home);
  try {
    const look = () => second.client.inspectAgent(`${supervisor?.id}`);
    await waitUntil(async () => (await look()).agent.run?.status === 'completed', { what: 'its turn' });
    expect(readFileSync(file, 'utf8')).toBe('# Moved\n');
    expect((await look()).worktree).toMatchObject({ head: main, changed: 0 });
    expect((await look()).agent.baseCommit).toBe(main);
  } finally {
    await second.kill('SIGTERM');
  }
});
