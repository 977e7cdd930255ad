import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runEnded, startTestDaemon, writeScenario } from './support/daemon.ts';
import { readyDaemon } from './support/daemon-process.ts';
import { outputDifferences, outputHas } from './support/output.ts';

/** A small disk, unmounted at the end of the scope; null if this machine does not allow mounts. */
function mountSmallDisk(path: string, megabytes: number): Disposable | null {
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0700`, 'tmpfs', path]);
  return status === 0 ? { [Symbol.dispose]: () => void spawnSync('umount', ['-l', path]) } : null;
}

/** Fills a disk. */
function fillDisk(path: string): void {
  const page = Buffer.alloc(4096);
  try {
    for (;;) appendFileSync(path, page);
  } catch {
    // It is full.
  }
}

test('a full disk is reported clearly, breaks nothing, and recovers when there is space again', async (context) => {
  await using place = await temporaryDirectory();
  await using disk = await temporaryDirectory();
  using mounted = mountSmallDisk(disk.path, 24);
  if (mounted === null) context.skip('tmpfs cannot be mounted here');
  await using daemon = await startTestDaemon({ home: join(disk.path, 'home') });
  const go = join(place.path, 'go');
  const waiting = await daemon.work([
    { say: 'before' },
    { shell: `while [ ! -e '${go}' ]; do sleep 0.05; done` },
    { say: 'after' },
    'complete',
  ]);
  await outputHas(daemon.client, waiting.id, 'before');
  const filler = join(disk.path, 'filler');
  fillDisk(filler);
  await expect(daemon.work(['complete'])).rejects.toMatchObject({ code: 'unavailable' });
  writeFileSync(go, '');
  expect((await daemon.client.daemon()).pid).toBe(process.pid);
  rmSync(filler);
  await daemon.ended(waiting.id);
  expect(await outputDifferences(daemon.client, waiting.id)).toEqual([]);
  const next = await daemon.work(['complete']);
  expect((await daemon.ended(next.id)).run?.status).toBe('completed');
  expect((await daemon.client.daemon()).trouble).toBeNull();
});

test('a clock that jumps back two hours and ahead a day neither ends nor stalls anything', async () => {
  let shiftMs = 0;
  await using daemon = await startTestDaemon({
    clock: () => Date.now() + shiftMs,
    monotonic: () => performance.now(),
  });
  const first = await daemon.work([{ say: 'standing by' }, { sleep: '400ms' }, 'complete']);
  await outputHas(daemon.client, first.id, 'standing by');
  shiftMs = -2 * 3_600_000;
  const second = await daemon.work(['complete']);
  shiftMs = 24 * 3_600_000;
  const third = await daemon.work(['complete']);
  for (const agent of [first, second, third]) expect((await daemon.ended(agent.id)).run?.status).toBe('completed');
  const { events } = await daemon.client.events();
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
  // A finished agent may have left by now, since days have passed for the clock.
  const { agents } = await daemon.client.listAgents({ all: true });
  const children = agents.filter((agent) => agent.parentId !== null);
  expect(children.map((agent) => agent.id)).toEqual([third.id, second.id, first.id]);
});

test(
  'too few open files: starts fail with a reason, running agents continue, and the daemon stays up',
  { timeout: 300_000 },
  async () => {
    await using place = await temporaryDirectory();
    const repository = join(place.path, 'sample');
    await sampleRepository(repository);
    const daemon = await readyDaemon(join(place.path, 'home'), { openFiles: 112 });
    const { client } = daemon;
    try {
      await client.addProject({ path: repository });
      const body = { path: repository, task: 'x', provider: 'scripted' };
      const hang = { scenario: await writeScenario(place.path, [{ say: 'standing by' }, 'hang']) };
      const { agent: running } = await client.work({ ...body, options: hang }, randomUUID());
      await outputHas(client, running.id, 'standing by');
      const asked = await Promise.allSettled(
        Array.from({ length: 40 }, () => client.work({ ...body, options: hang }, randomUUID())),
      );
      const refused = asked.filter((result) => result.status === 'rejected').map((result) => String(result.reason));
      for (const reason of refused) expect(reason).toMatch(/EMFILE|daemon does not answer/);
      const accepted = 1 + asked.length - refused.length;
      const isRunning = async () =>
        (await client.inspectAgent(running.id, { worktree: false })).agent.run?.status === 'running';
      await waitUntil(isRunning, { what: 'an answer about the agent that runs' });
      const isOver = async () => {
        const { agents } = await client.listAgents();
        for (const agent of agents) if (agent.run?.status === 'running') await client.stopAgent(agent.id);
        return agents.length >= accepted && agents.every((agent) => agent.run?.status !== 'running');
      };
      await waitUntil(isOver, { what: 'every agent to be stopped' });
      const failed = (await client.listAgents()).agents.filter((agent) => agent.run?.status === 'failed');
      for (const agent of failed) expect(agent.run?.detail).toMatch(/EMFILE/);
      const complete = { scenario: await writeScenario(place.path, ['complete']) };
      // The others release their files a moment after they have stopped.
      const begin = () => client.work({ ...body, options: complete }, randomUUID());
      const { agent } = await waitUntil(begin, { what: 'room for another agent' });
      expect((await runEnded(client, agent.id)).run?.status).toBe('completed');
    } finally {
      await daemon.kill('SIGTERM');
    }
  },
);
