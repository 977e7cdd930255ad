import type { CrashPoint } from '@pawl/schema/crash-point';
import type { AgentView } from '@pawl/protocol/agents/view';
import { sampleOf } from '@pawl/testing/endurance';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { runEnded, viewOf, writeScenario } from '../../support/daemon.ts';
import { readyDaemon } from '../../support/daemon-process.ts';
import type { DaemonProcess } from '../../support/daemon-process.ts';
import { commitIn } from '../../support/places.ts';

/** A home, two repositories and a scenario that works in both. */
async function ground(steps: unknown[]) {
  const place = await temporaryDirectory();
  const [sample, web] = [join(place.path, 'sample'), join(place.path, 'web')];
  await sampleRepository(sample);
  await sampleRepository(web, { files: { 'index.html': 'web\n' } });
  const marker = join(place.path, 'ran');
  const scenario = await writeScenario(place.path, [{ shell: `echo ran >> '${marker}'` }, ...steps]);
  const request = { projects: [sample, web], task: 'a task', provider: 'scripted', options: { scenario } };
  return { place, home: join(place.path, 'home'), marker, sample, web, request };
}

async function addProjects(daemon: DaemonProcess, paths: string[]): Promise<void> {
  for (const path of paths) await daemon.client.addProject({ path });
}

async function settled(daemon: DaemonProcess, id: string): Promise<AgentView> {
  let view: AgentView | undefined;
  await waitUntil(async () => (view = await viewOf(daemon.client, id)).worktreeEnd !== null, {
    what: 'the worktrees to be settled',
  });
  return view as AgentView;
}

const startPoints: readonly CrashPoint[] = [
  'fork.after_agent',
  'spawn.after_fork',
  'spawn.after_worktree_add',
  'spawn.after_worktree',
  'spawn.after_place',
  'spawn.after_input',
];

test.each(sampleOf(startPoints, 2))(
  'an agent with two projects whose daemon is killed at %s runs once, in both',
  async (point) => {
    const { place, home, sample, web, request, marker } = await ground([
      commitIn('sample', 'a.txt'),
      commitIn('web', 'b.txt'),
      'complete',
    ]);
    await using _place = place;
    const key = randomUUID();
    const first = await readyDaemon(home, { crashAt: point });
    await addProjects(first, [sample, web]);
    await first.client.work(request, key).catch(() => null);
    expect((await first.exited).signal).toBe('SIGKILL');
    const second = await readyDaemon(home);
    try {
      const { agent } = await second.client.work(request, key);
      expect((await runEnded(second.client, agent.id)).run?.status).toBe('completed');
      expect((await second.client.listAgents()).agents).toHaveLength(1);
      expect(readFileSync(marker, 'utf8')).toBe('ran\n');
      expect(await git(sample, ['log', '--format=%s', `main..work/${agent.alias}`])).toBe('add a.txt');
      expect(await git(web, ['log', '--format=%s', `main..work/${agent.alias}`])).toBe('add b.txt');
      const { events } = await second.client.events({ agent: agent.id });
      expect(events.filter(({ type }) => type === 'worktree.created')).toHaveLength(2);
      expect(events.filter(({ type }) => type === 'session.started')).toHaveLength(1);
    } finally {
      await second.kill('SIGTERM');
    }
  },
);

const endPoints: readonly CrashPoint[] = ['cleanup.after_trash', 'cleanup.after_commit', 'cleanup.after_place'];

test.each(sampleOf(endPoints, 1))(
  'a clean-up of two worktrees killed at %s is completed, and each is trashed once',
  async (point) => {
    const { place, home, sample, web, request } = await ground([
      { write: { path: 'top.txt', content: 'kept' } },
      commitIn('web', 'b.txt'),
      'complete',
    ]);
    await using _place = place;
    const first = await readyDaemon(home, { crashAt: point });
    await addProjects(first, [sample, web]);
    const { agent } = await first.client.work(request, randomUUID());
    await runEnded(first.client, agent.id);
    await first.client.killAgent(agent.id, {}).catch(() => null);
    expect((await first.exited).signal).toBe('SIGKILL');
    const second = await readyDaemon(home);
    try {
      const dead = await settled(second, agent.id);
      expect(dead.worktreeEnd).toMatchObject({ state: 'trashed' });
      expect(dead.places[0]?.end).toMatchObject({ state: 'trashed' });
      expect(existsSync(dead.workdir ?? '')).toBe(false);
      const trash = join(home, 'trash');
      const entries = readdirSync(trash).filter((name) => !name.startsWith('.'));
      expect(entries).toHaveLength(3);
      const tops = entries.map((name) => join(trash, name, 'files', 'top.txt')).filter((path) => existsSync(path));
      expect(tops.map((path) => readFileSync(path, 'utf8'))).toEqual(['kept']);
      for (const repository of [sample, web])
        expect((await git(repository, ['worktree', 'list', '--porcelain'])).match(/^worktree /gm)).toHaveLength(1);
    } finally {
      await second.kill('SIGTERM');
    }
  },
);

test.each(sampleOf(['spawn.after_worktree', 'cleanup.after_trash'] as const, 1))(
  'an agent without a project whose daemon is killed at %s loses nothing',
  async (point) => {
    const { place, home, sample, request } = await ground([{ write: { path: 'a.txt', content: 'a' } }, 'complete']);
    await using _place = place;
    const { projects: _projects, ...rest } = request;
    const body = { ...rest, noProject: true };
    const key = randomUUID();
    const first = await readyDaemon(home, { crashAt: point });
    await addProjects(first, [sample]);
    const made = await first.client.work(body, key).catch(() => null);
    if (point === 'cleanup.after_trash' && made !== null) {
      await runEnded(first.client, made.agent.id);
      await first.client.killAgent(made.agent.id, {}).catch(() => null);
    }
    expect((await first.exited).signal).toBe('SIGKILL');
    const second = await readyDaemon(home);
    try {
      const { agent } = await second.client.work(body, key);
      if (point === 'spawn.after_worktree') {
        expect((await runEnded(second.client, agent.id)).run?.status).toBe('completed');
        await second.client.killAgent(agent.id, {});
      }
      const dead = await settled(second, agent.id);
      const entry = dead.worktreeEnd?.state === 'trashed' ? dead.worktreeEnd.entry : 'none';
      expect(readFileSync(join(home, 'trash', entry, 'files', 'a.txt'), 'utf8')).toBe('a');
      expect(existsSync(dirname(agent.worktree ?? ''))).toBe(false);
    } finally {
      await second.kill('SIGTERM');
    }
  },
);
