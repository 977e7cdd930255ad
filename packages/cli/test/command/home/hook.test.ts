import { describe, expect, test } from 'vitest';
import { preToolUse, readToolCall } from '../../../src/command/home/hook.ts';
import { runCli } from '../../run-cli.ts';
import { fakeDaemon, sendFailure, sendJson } from '../fake-daemon.ts';

const agent = { PAWL_AGENT_ID: 'me', PAWL_AGENT_TOKEN: 'my-token' };

async function* said(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

/** Asks the hook, and gives what it printed, taken apart. */
async function ask(home: Parameters<typeof preToolUse>[0], text: string, environment: NodeJS.ProcessEnv = agent) {
  const printed: string[] = [];
  const streams = { input: said(text.slice(0, 5), text.slice(5)), write: (each: string) => void printed.push(each) };
  expect(await preToolUse(home, streams, environment)).toBe(0);
  return printed.map((each) => (JSON.parse(each) as { hookSpecificOutput: object }).hookSpecificOutput);
}

const call = (tool_name: string, tool_input: object) =>
  JSON.stringify({ session_id: 's', cwd: '/work', hook_event_name: 'PreToolUse', tool_name, tool_input });
const denied = (reason: unknown) => [
  { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason },
];

describe('the argument of a call', () => {
  test.each([
    ['Bash', { command: 'git log', description: 'x' }, 'git log'],
    ['Write', { file_path: '/a', content: 'b' }, '/a'],
    ['NotebookEdit', { notebook_path: '/n' }, '/n'],
    ['Grep', { pattern: 'x', path: 'src' }, 'src'],
    ['Grep', { pattern: 'x' }, undefined],
    ['WebFetch', { url: 'https://a', prompt: 'p' }, 'https://a'],
    ['Agent', { subagent_type: 'scout', prompt: 'p' }, 'scout'],
    ['mcp__lab__poke', { command: 'x' }, undefined],
    // A field that the tool does not have cannot stand in for the one that counts.
    ['Write', { command: 'src/ok', path: 'src/ok', file_path: '/etc/x' }, '/etc/x'],
    ['Bash', { file_path: 'src/ok' }, undefined],
    ['Bash', { command: ['git'] }, undefined],
  ])('%s %j', (tool, input, about) => {
    expect(readToolCall(call(tool, input))).toEqual({ tool, ...(about !== undefined && { input: about }) });
  });

  test.each(['', '[]', 'null', '{}', '{"tool_name":7}', '{"tool_name":""}', '{"tool_name":'])(
    '%j is not a call',
    (text) => {
      expect(() => readToolCall(text)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
    },
  );
});

describe('pre-tool-use', () => {
  test('asks as the agent, and prints nothing for an allowed call: it never widens', async () => {
    const tokens: unknown[] = [];
    await using daemon = await fakeDaemon(({ request, response }) => {
      tokens.push(request.headers.authorization);
      sendJson(response, { allowed: true, reason: 'the definition x allows Bash' });
    });
    expect(await ask(daemon.context.home, call('Bash', { command: 'ls' }))).toEqual([]);
    expect(daemon.requests).toEqual(['POST /api/agents/%40current/gate']);
    expect(daemon.bodies).toEqual([{ tool: 'Bash', input: 'ls' }]);
    expect(tokens).toEqual(['Bearer my-token']);
  });

  test('refuses with the reason [7.19]', async () => {
    const reason = 'the definition x does not allow Bash\u001B[2J';
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { allowed: false, reason }));
    expect(await ask(daemon.context.home, call('Bash', { command: 'ls' }))).toEqual(
      denied('Not allowed: the definition x does not allow Bash.'),
    );
  });

  test.each(['forbidden', 'unauthorized', 'internal', 'invalid_input'])(
    'refuses if the daemon answers %s',
    async (code) => {
      await using daemon = await fakeDaemon(({ response }) => sendFailure(response, code, 'no.'));
      expect(await ask(daemon.context.home, call('Bash', { command: 'ls' }))).toEqual(
        denied('Pawl could not be reached, so this is refused: no.'),
      );
    },
  );

  test('refuses invalid input and unknown agents without asking', async () => {
    await using daemon = await fakeDaemon(({ response }) => sendJson(response, { allowed: true, reason: '' }));
    const { home } = daemon.context;
    expect(await ask(home, 'not JSON')).toEqual(denied(expect.stringContaining('not JSON')));
    expect(await ask(home, call('Bash', {}), {})).toEqual(denied(expect.stringContaining('recognise the caller')));
    expect(await ask(home, call('Bash', {}), { PAWL_AGENT_ID: 'me' })).toHaveLength(1);
    expect(daemon.requests).toEqual([]);
  });

  test('waits for a daemon that is briefly away', async () => {
    let times = 0;
    await using daemon = await fakeDaemon(({ response }) => {
      times += 1;
      if (times === 1) response.destroy();
      else sendJson(response, { allowed: true, reason: '' });
    });
    expect(await ask(daemon.context.home, call('Read', { file_path: '/a' }))).toEqual([]);
    expect(times).toBe(2);
  });
});

test('as a program: a refusal is an answer, and invalid arguments exit with 2, which refuses as well', async () => {
  const outside = { PAWL_AGENT_ID: '', PAWL_AGENT_TOKEN: '' };
  const { code, stdout } = await runCli(['hook', 'pre-tool-use'], outside);
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    { hookSpecificOutput: expect.objectContaining({ permissionDecision: 'deny' }) },
  ]);
  expect((await runCli(['hook', 'post-tool-use'], outside)).code).toBe(2);
});
