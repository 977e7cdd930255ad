import { sampleRepository } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { startModelServer } from '@pawl/testing/model-server/server';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runEnded } from '../support/daemon.ts';
import { readyDaemon } from '../support/daemon-process.ts';
import { doneWith, onEngine, openEngineSetup } from '../support/engine.ts';
import { commitFiles } from '../support/merge-queue.ts';

const done = doneWith('All done.');

test('mail reaches a turn that runs, and a stop ends the command that it runs', async () => {
  const wait = { shell: 'touch started; until [ -e go ]; do sleep 0.05; done' };
  const steps = [wait, done, { say: 'Done.' }];
  const followUp = [{ shell: 'echo $$ > pid; exec sleep 600' }];
  await using setup = await openEngineSetup({ scenarios: { wait: { steps, followUp } }, fallback: 'wait' });
  const { daemon, model } = setup;
  const agent = await daemon.work(undefined, onEngine());
  const file = (name: string) => join(agent.worktree ?? '', name);
  await waitUntil(() => readFile(file('started')).then(() => true), { what: 'the command' });
  await daemon.client.sendMail({ to: agent.id, body: 'One more thing [[mark:mail]].' }, randomUUID());
  await writeFile(file('go'), '');
  const pid = await waitUntil(async () => Number(await readFile(file('pid'), 'utf8')) || null, { what: 'the second' });
  expect(model.requests.at(-1)?.marks).toContain('mail');
  await daemon.client.stopAgent(agent.id);
  await daemon.ended(agent.id);
  await waitUntil(() => !isAlive(pid), { what: 'the end of the command' });
});

test('a person decides about the commands of an agent that asks', async () => {
  const steps = [{ shell: 'touch allowed' }, { shell: 'touch denied' }, { say: 'Result: {result}' }];
  await using setup = await openEngineSetup({ scenarios: { two: { steps } }, fallback: 'two' });
  const { daemon, model } = setup;
  const agent = await daemon.work(undefined, { ...onEngine(), access: 'ask' });
  const seen = new Set<string>();
  const next = () =>
    waitUntil(
      async () => (await daemon.client.inbox()).items.find(({ id, kind }) => kind === 'permission' && !seen.has(id)),
      { what: 'the request in the inbox' },
    );
  for (const allow of [true, false]) {
    const { id } = await next();
    seen.add(id);
    await daemon.client.replyAgent(id, { allow }, randomUUID());
  }
  await waitUntil(() => model.requests.length === 3, { what: 'the third answer' });
  expect(existsSync(join(agent.worktree ?? '', 'allowed'))).toBe(true);
  expect(existsSync(join(agent.worktree ?? '', 'denied'))).toBe(false);
  await daemon.client.stopAgent(agent.id);
});

test('the MCP servers of a repository count only when a person trusts exactly that file', async () => {
  await using setup = await openEngineSetup({
    scenarios: { end: { steps: [done, { say: 'Done.' }] } },
    fallback: 'end',
  });
  const { daemon, model } = setup;
  const server = join(import.meta.dirname, '../../../engine/test/support/mcp-server.mjs');
  const servers = (...args: string[]) =>
    JSON.stringify({ mcpServers: { local: { command: process.execPath, args: [server, ...args] } } });
  const toolsOf = async (body: object = {}) => {
    const since = model.requests.length;
    const agent = await daemon.work(undefined, { ...onEngine(), ...body });
    await daemon.ended(agent.id);
    return model.requests[since]?.tools ?? [];
  };
  await commitFiles(daemon.repository, { '.mcp.json': servers() });
  expect(await toolsOf()).not.toContain('mcp__local__echo');
  await daemon.client.trust({ path: daemon.repository });
  expect(await toolsOf()).toContain('mcp__local__echo');
  daemon.define('limited', { kind: 'main', class: 'ephemeral', tools: ['Read', 'Write'] });
  expect(await toolsOf({ definition: 'limited' })).not.toContain('mcp__local__echo');
  await commitFiles(daemon.repository, { '.mcp.json': servers('changed') });
  expect(await toolsOf()).not.toContain('mcp__local__echo');
});

test('kill -9 of the engine in a command: a resumed agent is told, and the command does not run again', async () => {
  const steps = [{ shell: 'echo run >> runs; sleep 600' }];
  const followUp = [done, { say: 'Done.' }];
  await using setup = await openEngineSetup({ scenarios: { once: { steps, followUp } }, fallback: 'once' });
  const { daemon, model } = setup;
  const agent = await daemon.work(undefined, onEngine());
  const runs = join(agent.worktree ?? '', 'runs');
  await waitUntil(() => readFile(runs, 'utf8'), { what: 'the command' });
  const { sessions } = await daemon.client.inspectAgent(agent.id);
  process.kill(sessions[0]?.pid ?? 0, 'SIGKILL');
  expect((await daemon.ended(agent.id)).run?.status).toBe('failed');
  await daemon.client.resumeAgent(agent.id, { prompt: 'Go on.' }, randomUUID());
  await waitUntil(async () => (await daemon.ended(agent.id)).run?.status === 'completed', { what: 'the second run' });
  expect(await readFile(runs, 'utf8')).toBe('run\n');
  expect(model.requests.at(-1)?.userTurns).toBe(2);
  const { messages } = await daemon.client.history(agent.id);
  expect(messages.find(({ kind }) => kind === 'tool_result')?.content).toContain('may have taken effect');
});

test('kill -9 of the daemon in a turn: the engine goes on, and nothing runs twice', async () => {
  await using place = await temporaryDirectory();
  const [home, repository] = [join(place.path, 'home'), join(place.path, 'sample')];
  await sampleRepository(repository);
  const steps = [{ shell: 'echo run >> runs; until [ -e go ]; do sleep 0.05; done' }, done, { say: 'Done.' }];
  await using model = await startModelServer({ scenarios: { once: { steps } }, fallback: 'once' });
  let daemon = await readyDaemon(home);
  try {
    await daemon.client.addProject({ path: repository });
    await daemon.client.addAccount({
      provider: 'pawl',
      name: 'plain',
      kind: 'api-key',
      secret: 'sk-engine-0123456789',
      baseUrl: model.url,
    });
    const { agent } = await daemon.client.work({ path: repository, task: 'a task', ...onEngine() }, randomUUID());
    const file = (name: string) => join(agent.worktree ?? '', name);
    await waitUntil(() => readFile(file('runs'), 'utf8'), { what: 'the command' });
    await daemon.kill();
    await writeFile(file('go'), '');
    daemon = await readyDaemon(home);
    expect((await runEnded(daemon.client, agent.id)).run).toMatchObject({ status: 'completed' });
    expect((await daemon.client.inspectAgent(agent.id)).sessions).toHaveLength(1);
    expect(await readFile(file('runs'), 'utf8')).toBe('run\n');
  } finally {
    await daemon.kill('SIGTERM');
  }
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
