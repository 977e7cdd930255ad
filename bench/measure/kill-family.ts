import { programPaths } from '../program.ts';
import { strayProcesses } from '@pawl/host/session/stray';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Measure } from '../measure.ts';
import { makePlace } from '../place.ts';
import { timed } from '../statistics.ts';

/** Kills a large, partly running family with one command, against ending as many plain processes. */
export const killFamily: Measure = {
  name: 'kill-family',
  async run({ quick, progress }) {
    const [family, alive] = quick ? [50, 10] : [500, 100];
    await using place = await makePlace();
    const { client } = place;
    await place.startDaemon();
    await place.addRepository(10);
    const scenario = await place.scenario([{ say: 'standing by' }, 'hang']);
    progress(`${family} agents, ${alive} of them running`);
    const { id: top } = await place.work(scenario);
    const ids = [top];
    while (ids.length < family) {
      const parent = ids[Math.floor(ids.length / 2)] ?? top;
      const prompt = ids.length < alive ? { prompt: 'go' } : {};
      const body = { ...prompt, switch: false, options: { scenario } };
      ids.push((await client.fork(parent, body, randomUUID())).agent.id);
    }
    const sessions = new Set<string>();
    while (sessions.size < alive) {
      const { agents } = await client.listAgents({ limit: 1_000 });
      // An agent that was silent for a while is shown as waiting for its provider; its process still runs.
      for (const { activity, session } of agents)
        if (activity === 'running' || activity === 'waiting_for_provider') sessions.add(session?.id ?? '');
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const floor = await plainEndMs(place.path, scenario, alive);
    progress('killing');
    let died = 0;
    const took = await timed(async () => {
      died = (await client.killAgent(top, { cascade: true })).killed.length;
    });
    const left = [...sessions].flatMap((session) => strayProcesses(session)).length;
    if (died !== family || left > 0) throw new Error(`${died} of ${family} died, and ${left} processes are left`);
    return [
      {
        measure: `kill of ${family} agents, ${alive} running`,
        value: took,
        unit: 'ms',
        floor,
        note: `floor: TERM to ${alive} plain agents`,
      },
    ];
  },
};

/** How long it takes to end as many agents without a shim, a session or a daemon. */
async function plainEndMs(directory: string, scenario: string, count: number): Promise<number> {
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, [programPaths.scriptedAgent, '--scenario', scenario, 'a task'], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, PAWL_SCRIPTED_STATE: `${directory}/plain-state` },
    }),
  );
  await Promise.all(children.map((child) => waitFor(child.stdout, 'standing by')));
  return timed(async () => {
    const ended = Promise.all(children.map((child) => once(child, 'exit')));
    for (const child of children) child.kill('SIGTERM');
    await ended;
  });
}

async function waitFor(stream: NodeJS.ReadableStream, text: string): Promise<void> {
  let seen = '';
  for await (const part of stream) {
    seen += String(part);
    if (seen.includes(text)) return;
  }
}
