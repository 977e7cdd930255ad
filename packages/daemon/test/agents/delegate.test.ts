import { programs } from '@pawl/protocol/node/programs';
import type { AgentView } from '@pawl/protocol/agents/view';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { agentClient } from '../support/agent-client.ts';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import type { McpClient } from '../support/mcp.ts';
import { mcpOverHttp, tokenOf } from '../support/mcp.ts';
import { outputText } from '../support/output.ts';

let daemon: TestDaemon;
let lead: AgentView;
let tools: McpClient;
beforeAll(async () => {
  daemon = await startTestDaemon();
  daemon.define('chief', { kind: 'main', tools: ['*'], provider: 'scripted', policy: ['Delegate'] });
  daemon.define('finder', { kind: 'subagent', tools: ['*'], provider: 'scripted' });
  lead = await atWork();
  tools = await mcpOverHttp(daemon, lead.id);
});
afterAll(async () => {
  await tools.client.close();
  await daemon[Symbol.asyncDispose]();
});

/** A lead that works until the test ends it. */
async function atWork(): Promise<AgentView> {
  const agent = await daemon.work(['hang'], { definition: 'chief' });
  await waitUntil(async () => (await viewOf(daemon.client, agent.id)).activity === 'running', { what: 'it to run' });
  return agent;
}

const gate = (name: string) => join(dirname(daemon.repository), name);
const waitFor = (path: string) => ({ shell: `while [ ! -e '${path}' ]; do sleep 0.1; done` });
const done = (result: string) => ({ signal: { status: 'done', result } });

/** Delegates with a scenario, which a test can choose over HTTP only. */
async function delegated(steps: unknown[], key: string = randomUUID(), caller: { id: string } = lead) {
  const options = { scenario: await daemon.scenario(steps) };
  return agentClient(daemon.home, caller.id).delegate({ target: 'finder', task: 'find it', options }, key);
}

/** Runs a command as an agent. */
function pawl(agentId: string, words: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const env = {
    ...process.env,
    NO_COLOR: '1',
    PAWL_HOME: daemon.home.root,
    PAWL_AGENT_ID: agentId,
    PAWL_AGENT_TOKEN: tokenOf(daemon.home, agentId),
  };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [programs.pawl, ...words],
      { env, cwd: daemon.repository },
      (_e, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

describe('delegation returns the child’s result', () => {
  test('over HTTP: a stored fact, with the names of the run record [S2-10, S2-11, S2-18, W2-09]', async () => {
    const { agent, run } = await delegated([done('it is in login.ts')]);
    expect(agent).toMatchObject({ kind: 'subagent', parentId: lead.id });
    const client = agentClient(daemon.home, lead.id);
    const result = await waitUntil(
      async () => {
        const found = await client.runResult(run.id, { waitMs: 5_000 });
        return found.run.status === 'running' ? undefined : found;
      },
      { what: 'the result' },
    );
    expect(result).toMatchObject({
      run: {
        id: run.id,
        repoPath: await git(daemon.repository, ['rev-parse', '--show-toplevel']),
        sessionId: 'default',
        agentId: agent.id,
        agentKind: 'subagent',
        parentRunId: lead.run?.id,
        status: 'completed',
      },
      result: 'it is in login.ts',
      cut: false,
    });
    const { runs } = await daemon.client.inspectAgent(agent.id, { worktree: false });
    expect(runs[0]).toMatchObject({ repoPath: result.run.repoPath, sessionId: 'default' });
  });

  test('a long one whole, a failure with its reason, a cancelled run as such', async () => {
    const long = 'every line counts. '.repeat(500);
    const whole = await delegated([done(long)]);
    const failing = await delegated([{ signal: { status: 'error', error: 'there is no login' } }]);
    const cancelled = await delegated(['hang']);
    await daemon.client.cancelRun(cancelled.run.id);
    for (const { agent } of [whole, failing, cancelled]) await daemon.ended(agent.id);
    const client = agentClient(daemon.home, lead.id);
    expect(await client.runResult(whole.run.id)).toMatchObject({ result: long, cut: false });
    expect(await client.runResult(failing.run.id)).toMatchObject({
      run: { status: 'failed' },
      result: 'there is no login',
    });
    expect((await client.runResult(cancelled.run.id)).run.status).toBe('cancelled');
  });

  test('over MCP: waits, says how to continue waiting, and returns the same agent for the same key', async () => {
    const path = gate('mcp');
    const scenario = await daemon.scenario([waitFor(path), done('found')]);
    daemon.define('slow', { kind: 'subagent', tools: ['*'], provider: 'scripted' });
    const client = agentClient(daemon.home, lead.id);
    const { run } = await client.delegate({ target: 'slow', task: 'x', options: { scenario } }, 'a-key-of-mine');
    const again = { target: 'slow', task: 'x', key: 'a-key-of-mine', timeout_seconds: 0 };
    const early = await tools.call('delegate', again);
    expect(early).toMatchObject({ run: run.id, status: 'running', next: expect.stringContaining(run.id) as string });
    const waiting = tools.call('delegate_result', { run: run.id, timeout_seconds: 60 });
    writeFileSync(path, '');
    expect(await waiting).toMatchObject({ run: run.id, status: 'completed', result: 'found' });
    expect(await tools.call('delegate', again)).toMatchObject({ run: run.id, result: 'found' });
    const { agents } = await daemon.client.listAgents({ all: true, limit: 1000 });
    expect(agents.filter(({ definition }) => definition === 'slow')).toHaveLength(1);
  });

  test('work over MCP starts a main that outlives the run, and can be waited for', async () => {
    const begun = (await tools.call('work', { task: 'x', as: 'worker', provider: 'scripted', alias: 'by-tool' })) as {
      agent: { id: string; alias: string };
      run: string;
    };
    expect(begun).toMatchObject({ agent: { alias: 'by-tool' }, status: 'running' });
    expect(await viewOf(daemon.client, begun.agent.id)).toMatchObject({ kind: 'main', parentId: lead.id });
    await daemon.ended(begun.agent.id);
    expect((await tools.call('delegate_result', { run: begun.run }))['status']).not.toBe('running');
  });

  test('on the command line: prints it, and the exit code tells the outcome', async () => {
    const scenario = await daemon.scenario([done('on the command line')]);
    const found = await pawl(lead.id, ['delegate', 'finder', 'find it', '--scenario', scenario]);
    expect([found.code, found.stdout.trim()]).toEqual([0, 'on the command line']);
    const failing = await daemon.scenario([{ signal: { status: 'error', error: 'no' } }]);
    const started = await pawl(lead.id, ['delegate', 'finder', 'x', '--no-wait', '--json', '--scenario', failing]);
    const { data } = JSON.parse(started.stdout) as { data: { run: { id: string } } };
    const failed = await pawl(lead.id, ['result', data.run.id, '--json']);
    expect([failed.code, JSON.parse(failed.stdout)]).toMatchObject([
      1,
      { kind: 'result', data: { run: { status: 'failed' } } },
    ]);
  });

  test('only to its parent and a person', async () => {
    const { agent, run } = await delegated([done('secret')]);
    await daemon.ended(agent.id);
    const other = await daemon.rested();
    await expect(agentClient(daemon.home, other.id).runResult(run.id)).rejects.toMatchObject({ code: 'forbidden' });
    expect((await daemon.client.runResult(run.id)).result).toBe('secret');
    await expect(daemon.client.runResult('no-such-run')).rejects.toMatchObject({ code: 'not_found' });
    await expect(daemon.client.delegate({ target: 'finder', task: 'x' }, randomUUID())).rejects.toMatchObject({
      code: 'invalid_input',
      hint: expect.stringContaining('pawl work') as string,
    });
  });

  test('one that comes after the parent’s run is stored, and wakes no agent', async () => {
    const [path, parentPath] = [gate('late'), gate('parent')];
    const parent = await daemon.work([{ say: 'here' }, waitFor(parentPath), 'complete'], { definition: 'chief' });
    await waitUntil(async () => (await outputText(daemon.client, parent.id)).includes('here'), { what: 'it to run' });
    const steps = [waitFor(path), { pawl: ['complete', '--summary', 'late but true'] }, done('late but true')];
    const { agent, run } = await delegated(steps, randomUUID(), parent);
    writeFileSync(parentPath, '');
    await daemon.ended(parent.id);
    writeFileSync(path, '');
    await daemon.ended(agent.id);
    expect((await daemon.client.runResult(run.id)).result).toBe('late but true');
    await daemon.loops.health();
    const { runs } = await daemon.client.inspectAgent(parent.id, { worktree: false });
    expect(runs).toHaveLength(1);
    expect((await daemon.client.listMail({ agent: parent.id })).mails).toEqual([]);
  });
});

describe('a subagent', () => {
  const spawn = 'A subagent cannot create agents (delegation depth is 1).';
  const talk = 'Subagents do not talk to each other; write to your parent.';
  let one: AgentView;
  let other: AgentView;
  beforeAll(async () => {
    [{ agent: one }, { agent: other }] = [await delegated(['hang']), await delegated(['hang'])];
    for (const { id } of [one, other])
      await waitUntil(async () => (await viewOf(daemon.client, id)).activity === 'running', { what: 'it to run' });
  });

  test('cannot create an agent through any interface, for one reason [S2-13, S2-14]', async () => {
    const client = agentClient(daemon.home, one.id);
    const body = { path: daemon.repository, task: 'x' };
    const attempts = [
      client.fork('@current', { prompt: 'x' }, randomUUID()),
      client.work(body, randomUUID()),
      client.work({ ...body, definition: 'review' }, randomUUID()),
      client.work({ ...body, mode: 'errand' }, randomUUID()),
      client.delegate({ target: 'finder', task: 'x' }, randomUUID()),
    ];
    for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ code: 'forbidden', message: spawn });
    await using mcp = await mcpOverHttp(daemon, one.id);
    const names = (await mcp.client.listTools()).tools.map(({ name }) => name);
    expect(names).not.toEqual(expect.arrayContaining(['fork']));
    for (const [tool, input] of [
      ['fork', { prompt: 'x' }],
      ['work', { task: 'x' }],
      ['delegate', { target: 'finder', task: 'x' }],
    ] as const) {
      expect([tool, names.includes(tool)]).toEqual([tool, false]);
      expect(await mcp.failure(tool, input)).toMatchObject({ code: 'forbidden', message: spawn });
    }
    for (const words of [
      ['fork', '--prompt', 'x'],
      ['work', 'x'],
      ['work', 'x', '--as', 'review'],
      ['errand', 'start', 'x'],
      ['delegate', 'finder', 'x'],
    ]) {
      const { code, stderr } = await pawl(one.id, words);
      expect([words, code, stderr.includes(spawn)]).toEqual([words, 8, true]);
    }
  });

  test('cannot contact another subagent through any interface [S2-12]', async () => {
    const client = agentClient(daemon.home, one.id);
    const refused = { code: 'forbidden', message: talk };
    await expect(client.sendMail({ to: other.id, body: 'x' }, randomUUID())).rejects.toMatchObject(refused);
    await expect(client.ask({ agent: other.id, question: 'x' }, randomUUID())).rejects.toMatchObject(refused);
    await using mcp = await mcpOverHttp(daemon, one.id);
    expect(await mcp.failure('send', { to: other.alias, body: 'x' })).toMatchObject(refused);
    expect(await mcp.failure('ask', { agent: other.alias, question: 'x' })).toMatchObject(refused);
    for (const words of [
      ['send', other.alias, 'x'],
      ['ask', 'x', '--agent-id', other.alias],
    ]) {
      const { code, stderr } = await pawl(one.id, words);
      expect([words, code, stderr.includes(talk)]).toEqual([words, 8, true]);
    }
    expect((await client.sendMail({ to: 'parent', body: 'to my parent' }, randomUUID())).mails).toHaveLength(1);
  });
});
