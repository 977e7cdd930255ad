import type { AgentView } from '@pawl/protocol/agents/view';
import { programs } from '@pawl/protocol/node/programs';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFile } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon, viewOf } from '../support/daemon.ts';
import type { PseudoTerminal } from '../support/pseudo-terminal.ts';
import { hasPseudoTerminal, openPseudoTerminal } from '../support/pseudo-terminal.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

function environment(): NodeJS.ProcessEnv {
  const { PAWL_AGENT_ID: _id, PAWL_AGENT_TOKEN: _token, ...rest } = process.env;
  return { ...rest, NO_COLOR: '1', PAWL_HOME: daemon.home.root };
}

/** Runs the command with a pipe. */
function pawl(words: string[], piped: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { env: environment(), cwd: daemon.repository };
    const child = execFile(process.execPath, [programs.pawl, ...words], options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
    child.stdin?.end(piped);
  });
}

const chatIn = (words: string[]): PseudoTerminal =>
  openPseudoTerminal([process.execPath, programs.pawl, 'chat', ...words], {
    cwd: daemon.repository,
    env: environment(),
  });

/** An agent that is idle, and plays the given steps in its next turns. */
async function idle(steps: unknown[], body: object = {}): Promise<AgentView> {
  const agent = await daemon.work([{ say: 'ready' }, 'complete', ...steps], body);
  return daemon.ended(agent.id);
}

describe('as a filter', () => {
  test('only the answer is on stdout, without terminal control', async () => {
    const agent = await idle([{ shell: 'true' }, { say: 'it looks \u001B[31mgood\u001B[0m' }, 'complete']);
    const { code, stdout, stderr } = await pawl(['chat', agent.alias, '--once', 'review this'], 'diff --git a b\n');
    expect([stdout, code]).toEqual(['it looks good\n', 0]);
    expect(stderr).toContain(agent.alias);
    const { messages } = await daemon.client.history(agent.id);
    expect(messages.map(({ content }) => content)).toContain('review this\n\ndiff --git a b\n');
  });

  test('a failed turn is on stderr, and in the exit code', async () => {
    const agent = await idle([{ signal: { status: 'error', error: 'I cannot do that' } }]);
    const { code, stdout, stderr } = await pawl(['chat', agent.alias], 'do it');
    expect([stdout, code]).toEqual(['', 1]);
    expect(stderr).toContain('I cannot do that');
  });

  test('a busy agent is waited for, and there must be something to say', async () => {
    const agent = await daemon.work([{ sleep: '1s' }, 'complete', { say: 'the answer' }, 'complete']);
    const { code, stdout } = await pawl(['chat', agent.id, '--once', 'and now?'], '');
    expect([stdout, code]).toEqual(['the answer\n', 0]);
    expect((await pawl(['chat', agent.id, '--once'], '')).code).toBe(2);
    expect((await pawl(['chat', 'nobody-here', '--once', 'hello'], '')).code).not.toBe(0);
  });

  test('without a name, the workspace agent is started once, and the command says so', async () => {
    const first = await pawl(['chat', '--once', 'hello', '--json'], '');
    expect(first.code).toBe(0);
    const answered = JSON.parse(first.stdout) as { data: { agent: { alias: string; definition: string } } };
    expect(answered.data.agent.definition).toBe('workspace');
    const second = await pawl(['chat', '--once', 'again'], '');
    expect(second.stderr).toContain(`No agent named: you talk to ${answered.data.agent.alias}`);
  });
});

// Each has its own agent and terminal.
describe.skipIf(!hasPseudoTerminal).concurrent('in a terminal', () => {
  test('text is streamed, tools have rows, and leaving leaves the agent', async () => {
    const agent = await idle([
      { shell: 'echo from-the-shell' },
      { stream: { text: 'one two three', for: '100ms', pieces: 3 } },
      'complete',
    ]);
    await using terminal = chatIn([agent.alias]);
    await terminal.sees(`${agent.alias} > `);
    terminal.type('how are you?\r');
    await terminal.sees('▸ Bash');
    await terminal.sees('from-the-shell');
    await terminal.sees('one two three');
    await daemon.ended(agent.id);
    terminal.type('/help\r');
    await terminal.sees('/quit');
    // The agent's text has no end of line, but a typed line begins its own.
    expect(terminal.shown()).not.toContain(`three${agent.alias} > /help`);
    terminal.type('/nonsense\r');
    await terminal.sees('There is no command /nonsense');
    terminal.type('half a line\u0003');
    terminal.type('\u0003');
    await terminal.sees('Ctrl-C again leaves');
    terminal.type('\u0003');
    await terminal.sees(`${agent.alias} stays`);
    expect(await terminal.exit).toBe(0);
    const { messages } = await daemon.client.history(agent.id);
    expect(messages.map(({ content }) => content)).not.toContain('half a line');
    expect((await viewOf(daemon.client, agent.id)).status).toBe('running');
  });

  test('Ctrl-C cancels the turn and not the agent, which takes the next message', async () => {
    const agent = await idle(['hang']);
    await using terminal = chatIn([agent.alias]);
    await terminal.sees(`${agent.alias} > `);
    terminal.type('begin\r');
    await terminal.sees('Ctrl-C cancels the turn');
    await waitUntil(async () => (await viewOf(daemon.client, agent.id)).activity === 'running', { what: 'the turn' });
    terminal.type('\u0003');
    await terminal.sees('The turn was cancelled.');
    const view = await viewOf(daemon.client, agent.id);
    expect([view.status, view.run?.status]).toEqual(['running', 'cancelled']);
    terminal.type('again\r');
    await waitUntil(async () => (await viewOf(daemon.client, agent.id)).run?.status === 'running', { what: 'a turn' });
    terminal.type('\u0003');
    await terminal.sees('Cancelling the turn');
    terminal.type('\u0003');
    expect(await terminal.exit).toBe(0);
    await daemon.client.stopAgent(agent.id);
  });

  test('a request for permission is shown and answered in place', async () => {
    const steps = [{ permit: { name: 'Bash', input: { command: 'npm test' } } }, { say: 'went on' }, 'complete'];
    const agent = await idle(steps, { access: 'ask' });
    await using terminal = chatIn([agent.alias]);
    await terminal.sees(`${agent.alias} > `);
    terminal.type('test it\r');
    await terminal.sees('It asks for permission');
    await terminal.sees('npm test');
    await terminal.sees('allow? ');
    terminal.type('what?\r');
    await terminal.sees('Answer that first');
    terminal.type('n use the other tests\r');
    await terminal.sees('use the other tests');
    await terminal.sees('went on');
    terminal.type('/quit\r');
    expect(await terminal.exit).toBe(0);
  });

  test('hostile output does not control the terminal', async () => {
    const agent = await idle([{ say: 'a\u001B]0;owned\u0007b\u001B[2Jc\u009B31md' }, 'complete']);
    await using terminal = chatIn([agent.alias]);
    await terminal.sees(`${agent.alias} > `);
    terminal.type('go\r');
    await terminal.sees('owned');
    await daemon.ended(agent.id);
    terminal.type('\u0004');
    expect(await terminal.exit).toBe(0);
    for (const hostile of ['\u001B]0;', '\u001B[2J', '\u009B']) expect(terminal.shown()).not.toContain(hostile);
  });
});
