import { waitUntil } from '@pawl/testing/wait-until';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { plainSpawnMs } from '../floor.ts';
import type { Measure } from '../measure.ts';
import type { Place } from '../place.ts';
import { makePlace } from '../place.ts';
import { commandMs, programPaths } from '../program.ts';
import type { Row } from '../report.ts';
import { alternate, median } from '../statistics.ts';

const files = 1_000;

/** From the request to the first stored output of an agent, against git and the agent's command alone. */
export const spawn: Measure = {
  name: 'spawn',
  async run({ quick, progress }) {
    await using place = await makePlace();
    await place.startDaemon();
    progress(`a repository of ${files} files`);
    await place.addRepository(files);
    const scenario = await place.scenario([{ say: 'hi' }, 'complete']);
    const plain = join(place.path, 'plain');
    await mkdir(plain);
    const started: number[] = [];
    const { ours, floor, command } = await alternate(quick ? 4 : 12, {
      async ours() {
        const { startedMs, storedMs } = await spawnOnce(place, scenario);
        started.push(startedMs);
        return storedMs;
      },
      floor: (round) => plainSpawnMs(place.repository, join(plain, String(round)), `plain-${round}`),
      command: () => workCommandMs(place, scenario),
    });
    const rows: Row[] = [
      {
        measure: 'spawn to first output stored',
        value: median(ours),
        unit: 'ms',
        floor: median(floor),
        aims: [{ of: 'ratio', atMost: 1.5 }],
        note: `${files} files`,
      },
      { measure: 'spawn to session.started', value: median(started), unit: 'ms', aims: [{ of: 'value', atMost: 120 }] },
      { measure: 'pawl work returns', value: median(command), unit: 'ms', aims: [{ of: 'value', atMost: 200 }] },
    ];
    return rows;
  },
};

/** Starts an agent, and measures until its session has started and its first output is stored. */
export async function spawnOnce(place: Place, scenario: string): Promise<{ startedMs: number; storedMs: number }> {
  const { client } = place;
  const { lastSeq } = await client.daemon();
  const closing = new AbortController();
  const start = performance.now();
  const agent = await place.work(scenario);
  const started = firstOf(
    client.followEvents(lastSeq, { agent: agent.id }, closing.signal),
    (message) => message.type === 'event' && message.event.type === 'session.started',
  );
  const stored = firstOf(client.followOutput(agent.id, {}, closing.signal), (message) => message.type === 'chunk');
  const times = { startedMs: (await started) - start, storedMs: (await stored) - start };
  closing.abort();
  await restUntilEnded(place, agent.id);
  return times;
}

async function workCommandMs(place: Place, scenario: string): Promise<number> {
  const env = { PAWL_HOME: place.home.root };
  const words = ['work', 'a task', '--provider', 'scripted', '--scenario', scenario];
  const took = await commandMs(programPaths.pawl, words, { cwd: place.repository, env });
  const { agents } = await place.client.listAgents({ limit: 1 });
  if (agents[0] !== undefined) await restUntilEnded(place, agents[0].id);
  return took;
}

/** A working agent would slow down the next measure. */
async function restUntilEnded(place: Place, agentId: string): Promise<void> {
  await waitUntil(async () => (await statusOf(place, agentId)) === 'completed', {
    timeoutMs: 60_000,
    what: `the end of ${agentId}`,
  });
}

/** The time of the first message of a kind on a stream. */
async function firstOf<Message>(
  stream: AsyncGenerator<Message>,
  matches: (message: Message) => boolean,
): Promise<number> {
  for await (const message of stream) if (matches(message)) return performance.now();
  throw new Error('the stream ended too early');
}

/** A listing instead of an inspection, which would run git on the worktree each time. */
async function statusOf(place: Place, agentId: string): Promise<string | undefined> {
  const { agents } = await place.client.listAgents({ limit: 5 });
  return agents.find((agent) => agent.id === agentId)?.run?.status;
}
