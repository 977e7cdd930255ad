import type { Client } from '@pawl/protocol/client';
import type { CrashPoint } from '@pawl/schema/crash-point';
import { sampleOf } from '@pawl/testing/endurance';
import type { ModelServer } from '@pawl/testing/model-server/server';
import { startModelServer } from '@pawl/testing/model-server/server';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CrashLife } from '../support/crash-life.ts';
import { crashLife } from '../support/crash-life.ts';
import { runEnded } from '../support/daemon.ts';
import { doneWith, engineModels } from '../support/engine.ts';

/** Three commands, each of which leaves a line in a file of its agent and a mark in the conversation. */
const commands = [1, 2, 3].map(
  (number) => `echo ${number} >> ../runs-$PAWL_AGENT_ID; echo "[[mark:re""sult-${number}]]"`,
);
const followUp = [doneWith('All done.'), { say: 'Done.' }];

/** The engine is killed in a command, or while it waits for an answer. */
const boundaries = [1, 2, 3].flatMap((number) => [
  { name: `in-command-${number}`, calls: number, interrupted: true },
  { name: `after-result-${number}`, calls: number, interrupted: false },
]);

const scenarios = Object.fromEntries(
  boundaries.map(({ name, calls, interrupted }) => {
    const steps = commands.slice(0, calls).map((shell, index) => ({
      shell: interrupted && index === calls - 1 ? `${shell}; kill -9 $PPID; sleep 60` : shell,
    }));
    return [name, { steps: interrupted ? steps : [...steps, { hang: true as const }], followUp }];
  }),
);

let life: CrashLife;
let model: ModelServer;
beforeAll(async () => {
  const work = { steps: [...commands.map((shell) => ({ shell })), ...followUp] };
  model = await startModelServer({ scenarios: { ...scenarios, work }, fallback: 'work' });
  life = await crashLife();
});
afterAll(async () => {
  await life[Symbol.asyncDispose]();
  await model.close();
});

async function begin(client: Client, scenario: string) {
  const name = `account-${scenario}`;
  const baseUrl = `${model.url}/s/${scenario}`;
  const known = await client.listAccounts();
  if (!known.accounts.some((account) => account.name === name))
    await client.addAccount({ provider: 'pawl', name, kind: 'api-key', secret: `sk-engine-${scenario}`, baseUrl });
  return {
    path: life.repository,
    task: 'Work. [[mark:task]]',
    provider: 'pawl',
    account: name,
    model: engineModels.anthropic,
  };
}

/** The commands that an agent has run, in order. */
async function runsOf(agent: { id: string; worktree: string | null }): Promise<string[]> {
  const text = await readFile(join(agent.worktree ?? '', '..', `runs-${agent.id}`), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

test.each(sampleOf(boundaries, 2))(
  'kill -9 of the engine $name: no message is lost, and no command runs twice',
  async ({ name, calls, interrupted }) => {
    const { client } = await life.running();
    const since = model.requests.length;
    const { agent } = await client.work(await begin(client, name), randomUUID());
    if (!interrupted) {
      await waitUntil(() => model.requests.length > since + calls, { what: 'the last question' });
      const { sessions } = await client.inspectAgent(agent.id);
      process.kill(sessions[0]?.pid ?? 0, 'SIGKILL');
    }
    expect((await runEnded(client, agent.id)).run?.status).toBe('failed');
    await client.resumeAgent(agent.id, { prompt: 'Go on. [[mark:on]]' }, randomUUID());
    await waitUntil(async () => (await runEnded(client, agent.id)).run?.status === 'completed', { what: 'the end' });

    const numbers = Array.from({ length: calls }, (_, index) => index + 1);
    expect(await runsOf(agent)).toEqual(numbers.map(String));
    const kept = interrupted ? numbers.slice(0, -1) : numbers;
    const shown = new Set(model.requests.at(-1)?.marks);
    expect(shown).toEqual(new Set(['task', ...kept.map((number) => `result-${number}`), 'on']));
    const { messages } = await client.history(agent.id);
    const first = messages.filter(({ runId }) => runId === messages[1]?.runId);
    expect(first.filter(({ kind }) => kind === 'tool_call')).toHaveLength(calls);
    const results = first.filter(({ kind }) => kind === 'tool_result').map(({ content }) => content);
    expect(results).toHaveLength(calls);
    if (interrupted) expect(results.at(-1)).toContain('may have taken effect');
  },
);

const points: readonly CrashPoint[] = [
  'spawn.after_session_row',
  'spawn.after_process',
  'ingest.before_commit',
  'ingest.after_commit',
  'finish.after_flush',
  'finish.after_commit',
];

test.each(sampleOf(points, 2))(
  'kill -9 of the daemon at %s: every message is stored once, and no command runs twice',
  async (point) => {
    const request = await begin((await life.running()).client, 'work');
    const first = await life.armed(point);
    const key = randomUUID();
    await first.client.work(request, key).catch(() => null);
    const { client } = await life.next();
    const { agent } = await client.work(request, key);
    expect((await runEnded(client, agent.id)).run?.status).toBe('completed');
    expect(await runsOf(agent)).toEqual(['1', '2', '3']);
    const { messages } = await client.history(agent.id);
    const kinds = messages.map(({ kind }) => kind).filter((kind) => kind.startsWith('tool_'));
    expect(kinds).toEqual(Array.from({ length: 4 }, () => ['tool_call', 'tool_result']).flat());
    expect(messages.filter(({ kind, content }) => kind === 'assistant' && content.startsWith('Done.'))).toHaveLength(1);
  },
);
