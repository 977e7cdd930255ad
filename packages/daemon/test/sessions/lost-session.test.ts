import { signalProcess } from '@pawl/host/process/identity';
import { strayProcesses } from '@pawl/host/session/stray';
import { limits } from '@pawl/schema/limit';
import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runEnded, writeScenario, viewOf } from '../support/daemon.ts';
import type { DaemonProcess } from '../support/daemon-process.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { outputHas, outputText } from '../support/output.ts';

/** Ends all of a session at once, as a power cut does: no exit code is written. */
async function loseSession(daemon: DaemonProcess, agentId: string): Promise<void> {
  const session = (await daemon.client.inspectAgent(agentId, { worktree: false })).sessions.at(-1);
  await daemon.kill();
  const members = strayProcesses(session?.id ?? '');
  // Kill the shim first, so that it cannot record the end of its child.
  members.sort((one, other) => Number(other.pid === session?.pid) - Number(one.pid === session?.pid));
  for (const member of members) signalProcess(member, 'SIGKILL');
  await waitUntil(() => strayProcesses(session?.id ?? '').length === 0, { what: 'its processes to be gone' });
}

test('an agent lost in the middle of its turn continues, is told so, and keeps its conversation [S1-18, S4-31, W1-18, W4-07, W4-20]', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const repository = join(place.path, 'sample');
  await sampleRepository(repository);
  const scenario = await writeScenario(place.path, [
    { say: 'standing by' },
    { hang: { once: true } },
    'recall',
    'complete',
  ]);
  const first = await readyDaemon(home);
  await first.client.addProject({ path: repository });
  const body = { path: repository, task: 'a long task', provider: 'scripted', options: { scenario } };
  const { agent } = await first.client.work(body, randomUUID());
  const { agent: idle } = await first.client.work({ ...body, options: {} }, randomUUID());
  await runEnded(first.client, idle.id);
  const { agent: child } = await first.client.fork(idle.id, { switch: false }, randomUUID());
  await outputHas(first.client, agent.id, 'standing by');
  await loseSession(first, agent.id);

  const second = await readyDaemon(home);
  try {
    expect((await runEnded(second.client, agent.id)).run?.status).toBe('completed');
    const { sessions, runs } = await second.client.inspectAgent(agent.id);
    expect(runs).toHaveLength(1);
    expect(sessions.map(({ no, purpose, conversation, endReason }) => [no, purpose, conversation, endReason])).toEqual([
      [1, 'work', 'new', 'lost'],
      [2, 'interrupted', 'resume', 'exited'],
    ]);
    expect(readFileSync(join(sessions[1]?.directory ?? '', 'prompt'), 'utf8')).toContain('You were interrupted');
    expect(await outputText(second.client, agent.id)).toContain('a long task');
    const { events } = await second.client.events({ agent: agent.id });
    expect(events.filter(({ type }) => type === 'session.lost')).toHaveLength(1);
    // Idle agents are unchanged, with their links and histories.
    expect(await viewOf(second.client, child.id)).toMatchObject({ parentId: idle.id, activity: 'idle' });
    expect((await second.client.history(child.id)).inherited).toBeGreaterThan(0);
    expect((await second.client.selection()).current.alias).toBe('root');
  } finally {
    await second.kill('SIGTERM');
  }
});

test('an agent that is lost repeatedly is given up after a bounded number of times, and the others continue [W1-18]', async () => {
  await using place = await temporaryDirectory();
  const home = join(place.path, 'home');
  const repository = join(place.path, 'sample');
  await sampleRepository(repository);
  const scenario = await writeScenario(place.path, [
    { repeat: { times: 9, steps: [{ say: 'standing by {n}' }, { hang: { once: true } }] } },
  ]);
  let daemon = await readyDaemon(home);
  await daemon.client.addProject({ path: repository });
  const body = { path: repository, task: 'a long task', provider: 'scripted', options: { scenario } };
  const { agent } = await daemon.client.work(body, randomUUID());
  for (let loss = 0; loss <= limits.interruptions; loss++) {
    await outputHas(daemon.client, agent.id, `standing by ${loss + 1}`);
    await loseSession(daemon, agent.id);
    daemon = await readyDaemon(home);
  }
  try {
    expect(await runEnded(daemon.client, agent.id)).toMatchObject({
      activity: 'crashed',
      run: { status: 'failed', detail: expect.stringContaining('lost with the machine') },
    });
    const { agent: other } = await daemon.client.work({ ...body, options: {} }, randomUUID());
    expect((await runEnded(daemon.client, other.id)).run?.status).toBe('completed');
  } finally {
    await daemon.kill('SIGTERM');
  }
});
