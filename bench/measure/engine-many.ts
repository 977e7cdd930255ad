import { startModelServer } from '@pawl/testing/model-server/server';
import { waitUntil } from '@pawl/testing/wait-until';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Measure } from '../measure.ts';
import type { Place } from '../place.ts';
import { makePlace } from '../place.ts';
import { processBelow, programPaths, proportionalBytes, residentBytes } from '../program.ts';
import type { Row } from '../report.ts';
import { median } from '../statistics.ts';

const megabyte = 1024 * 1024;
const patience = { timeoutMs: 180_000 };

/** A program that asks the model, keeps its answer and stays. */
const bare = `
const body = JSON.stringify({ model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'Hello' }] });
const headers = { 'x-api-key': 'sk-bench', 'content-type': 'application/json' };
const answer = await fetch(process.env.MODEL_URL + '/s/text/v1/messages', { method: 'POST', headers, body });
process.stdout.write(await answer.text());
setInterval(() => {}, 1000);`;

/** Many agents of the engine at once: time until each runs a tool, memory meanwhile, and what is left when they are idle. */
export const engineMany: Measure = {
  name: 'engine-many',
  async run({ quick, progress }) {
    const count = quick ? 10 : 50;
    await using place = await makePlace();
    const go = join(place.path, 'go');
    const wait = { shell: `touch at-work; until [ -e '${go}' ]; do sleep 0.5; done` };
    const end = { tool: { name: 'Finish', input: { type: 'none', summary: 'Done.' } } };
    await using model = await startModelServer({ scenarios: { wait: { steps: [wait, end] } }, fallback: 'wait' });
    progress(`${count} bare programs`);
    const floor = await bareProcesses(count, model.url);
    await place.startDaemon();
    await place.addRepository(10);
    await place.client.addAccount({
      provider: 'pawl',
      name: 'bench',
      kind: 'api-key',
      secret: 'sk-bench-0123456789',
      baseUrl: model.url,
    });
    progress(`${count} agents`);
    const { tookMs, pids } = await startAgents(place, count);
    const resident = median(pids.map((pid) => residentBytes(pid) / megabyte));
    const own = median(pids.map((pid) => proportionalBytes(pid) / megabyte));
    progress('the end of their turns');
    await writeFile(go, '');
    await waitUntil(
      async () =>
        (await place.client.listAgents({ limit: count })).agents.every(({ run }) => run?.status !== 'running'),
      {
        ...patience,
        what: 'the end of the turns',
      },
    );
    const left = () => pids.filter((pid) => existsSync(`/proc/${pid}`)).length;
    await waitUntil(() => left() === 0, { ...patience, what: 'the end of the processes' }).catch(() => undefined);
    const rows: Row[] = [
      { measure: `${count} engine agents: each runs a tool`, value: tookMs, unit: 'ms', floor: floor.tookMs },
      {
        measure: 'memory of an engine agent',
        value: resident,
        unit: 'MB',
        floor: floor.megabytes,
        aims: [{ of: 'value', atMost: 70 }],
        note: `${own.toFixed(0)} MB if shared pages are divided among processes`,
      },
      {
        measure: `processes of ${count} idle engine agents`,
        value: left(),
        unit: '',
        aims: [{ of: 'value', atMost: 0 }],
      },
    ];
    return rows;
  },
};

async function startAgents(place: Place, count: number): Promise<{ tookMs: number; pids: number[] }> {
  const start = performance.now();
  const body = {
    path: place.repository,
    task: 'Wait.',
    provider: 'pawl',
    account: 'bench',
    model: 'anthropic/claude-sonnet-4-5',
  };
  const started = await Promise.all(Array.from({ length: count }, () => place.client.work(body, randomUUID())));
  for (const { agent } of started)
    await waitUntil(() => existsSync(join(agent.worktree ?? '', 'at-work')), {
      ...patience,
      what: `the tool of ${agent.alias}`,
    });
  const tookMs = performance.now() - start;
  const pids = [];
  for (const { agent } of started) {
    const { sessions } = await place.client.inspectAgent(agent.id, { worktree: false });
    // The session's own process is the shim.
    pids.push(processBelow(sessions[0]?.pid ?? 0, programPaths.engine));
  }
  return { tookMs, pids };
}

/** The floor: as many programs that only ask the model. */
async function bareProcesses(count: number, url: string): Promise<{ tookMs: number; megabytes: number }> {
  const start = performance.now();
  const env = { ...process.env, MODEL_URL: url };
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', bare], { env, stdio: ['ignore', 'pipe', 'inherit'] }),
  );
  try {
    await Promise.all(children.map((child) => new Promise((resolve) => child.stdout.once('data', resolve))));
    const tookMs = performance.now() - start;
    return { tookMs, megabytes: median(children.map(({ pid = 0 }) => residentBytes(pid) / megabyte)) };
  } finally {
    for (const child of children) child.kill('SIGKILL');
  }
}
