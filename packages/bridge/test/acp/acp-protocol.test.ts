import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { describe, expect, test } from 'vitest';
import { fake, RunningBridge } from '../support/run-bridge.ts';

const acp = (words: string[], ...offers: string[]) => ['acp', ...words, ...fake('fake-acp', ...offers)];

test('an ACP turn is reported as deltas, a whole text, the echo of its input and a result', async () => {
  await using bridge = new RunningBridge(acp([]));
  bridge.say('hello there', { uuid: 'mail-1' });
  const result = await bridge.results(1);
  expect(bridge.lines[0]).toMatchObject({ type: 'system', subtype: 'init', session_id: 'sess-1', model: 'small' });
  expect(bridge.ofType('user')[0]).toMatchObject({ isReplay: true, uuid: 'mail-1', session_id: 'sess-1' });
  expect(bridge.ofType('stream_event')).toHaveLength(2);
  expect(bridge.blocks).toEqual([{ type: 'text', text: 'You said: hello there' }]);
  expect(result).toMatchObject({ subtype: 'success', is_error: false, result: 'You said: hello there' });
  expect(await bridge.end()).toBe(0);
});

test('a tool call is reported once, when its input is known, and its result once', async () => {
  await using bridge = new RunningBridge(acp([]));
  bridge.say('tool');
  const result = await bridge.results(1);
  expect(bridge.blocks).toEqual([
    { type: 'thinking', thinking: 'I need a tool.', signature: '' },
    { type: 'tool_use', id: 't1', name: 'execute', input: { command: 'ls' } },
    { type: 'tool_result', tool_use_id: 't1', content: 'no such file', is_error: true },
    { type: 'text', text: 'done' },
  ]);
  expect(result['usage']).toMatchObject({ input_tokens: 10, output_tokens: 5 });
  expect(bridge.ofType('bridge').map((line) => line['raw'])).toHaveLength(2);
});

test.each([
  ['full', 'once', 'once', 'default'],
  ['read-only', 'no', 'once', 'read-only'],
])('permission %s answers an edit with "%s" and a read with "%s"', async (permission, edit, read, mode) => {
  await using bridge = new RunningBridge(acp(['--permission', permission]));
  bridge.say('ask');
  await bridge.results(1);
  expect(bridge.blocks.map((block) => block['text'] ?? block['name'])).toEqual([
    'edit',
    `edit: {"outcome":{"outcome":"selected","optionId":"${edit}"}} `,
    'read',
    `read: {"outcome":{"outcome":"selected","optionId":"${read}"}} `,
  ]);
  // An agent that decides by itself is put into the mode in which it asks.
  expect(bridge.stderr).toContain(`mode ${mode}\n`);
});

/** The request that an agent has made as number `index`, as it goes to the daemon. */
async function asked(bridge: RunningBridge, index: number) {
  await waitUntil(() => bridge.ofType('control_request').length > index, { what: 'a request' });
  return bridge.ofType('control_request')[index] as unknown as {
    request_id: string;
    request: Record<string, unknown>;
  };
}

function answer(bridge: RunningBridge, requestId: string, response: object): void {
  bridge.write({ type: 'control_response', response: { subtype: 'success', request_id: requestId, response } });
}

describe('with permission ask', () => {
  test('a request goes to a person, and an allowed one continues the same turn', async () => {
    await using bridge = new RunningBridge(acp(['--permission', 'ask']));
    bridge.say('run');
    const { request_id: id, request } = await asked(bridge, 0);
    expect(request).toMatchObject({ subtype: 'can_use_tool', tool_name: 'Bash', input: { command: 'npm test' } });
    answer(bridge, 'another', { behavior: 'deny', message: 'no' });
    answer(bridge, id, { behavior: 'allow' });
    answer(bridge, id, { behavior: 'deny', message: 'too late' });
    expect(await bridge.results(1)).toMatchObject({
      result: 'run: {"outcome":{"outcome":"selected","optionId":"once"}}',
    });
    expect(bridge.stderr).toContain('mode default\n');
  });

  test('a denied request is rejected once, and the model learns the reason in the same turn', async () => {
    await using bridge = new RunningBridge(acp(['--permission', 'ask']));
    bridge.say('run');
    answer(bridge, (await asked(bridge, 0)).request_id, { behavior: 'deny', message: 'use npm run check' });
    expect(await bridge.results(1)).toMatchObject({
      result: expect.stringMatching(/You said: Bash .*npm test.* was denied: use npm run check/) as string,
    });
    expect(bridge.blocks.map(({ text }) => text)).toContain('run: {"outcome":{"outcome":"selected","optionId":"no"}}');
    expect(bridge.ofType('result')).toHaveLength(1);
  });

  test('an interrupted turn cancels its request, which is withdrawn', async () => {
    await using bridge = new RunningBridge(acp(['--permission', 'ask'], 'cancels'));
    bridge.say('run');
    const { request_id: id } = await asked(bridge, 0);
    bridge.interrupt();
    expect(await bridge.results(1)).toMatchObject({ subtype: 'error_during_execution' });
    expect(bridge.ofType('control_cancel_request')).toMatchObject([{ request_id: id }]);
    expect(bridge.blocks.map(({ text }) => text)).toContain('run: {"outcome":{"outcome":"cancelled"}}');
  });

  test('a request names all its paths, and a command known only by its title says so', async () => {
    await using bridge = new RunningBridge(acp(['--permission', 'ask']));
    bridge.say('change');
    const edit = await asked(bridge, 0);
    expect(edit.request).toMatchObject({
      tool_name: 'Edit',
      input: { changes: [{ path: '/w/a.ts' }, { path: '/w/b.ts' }] },
    });
    answer(bridge, edit.request_id, { behavior: 'allow' });
    const command = await asked(bridge, 1);
    // The extra field keeps allow rules from matching.
    expect(command.request).toMatchObject({
      tool_name: 'Bash',
      input: { command: 'npm test (in the worktree)', source: 'the title of the call' },
    });
    answer(bridge, command.request_id, { behavior: 'allow' });
    await bridge.results(1);
  });
});

test('an input during a turn waits for its end', async () => {
  await using bridge = new RunningBridge(acp([]));
  bridge.say('hang');
  await bridge.until('the turn', (line) => line.type === 'stream_event');
  bridge.say('second');
  bridge.say('third');
  bridge.interrupt();
  await bridge.results(3);
  expect(bridge.ofType('result').map((line) => line['result'])).toEqual(['', 'You said: second', 'You said: third']);
  expect(bridge.ofType('result')[0]).toMatchObject({ subtype: 'error_during_execution', is_error: true });
  expect(bridge.ofType('control_response')[0]).toMatchObject({ response: { subtype: 'success', request_id: 'r1' } });
  expect(bridge.echoes).toEqual(['hang', 'second', 'third']);
});

test('an agent that steers takes an input into its running turn, which then has one result', async () => {
  await using bridge = new RunningBridge(acp(['--steer'], 'busy-answers'));
  bridge.say('hang');
  await bridge.until('the turn', (line) => line.type === 'stream_event');
  bridge.say('more');
  expect(await bridge.results(1)).toMatchObject({ is_error: false });
  expect(bridge.echoes).toEqual(['hang', 'more']);
  expect(await bridge.end()).toBe(0);
  expect(bridge.ofType('result')).toHaveLength(1);
});

test.each([
  ['limit', 429, 'Internal error: You have reached your limit.'],
  ['code', 429, 'You have exhausted your daily quota.'],
  ['limit-text', 429, 'Error: 429 too many requests'],
  ['auth', 401, 'Authentication required'],
])('the error "%s" has status %i and its message', async (prompt, status, text) => {
  await using bridge = new RunningBridge(acp([]));
  bridge.say(prompt);
  expect(await bridge.results(1)).toMatchObject({ is_error: true, api_error_status: status, result: text });
  expect(bridge.ofType('rate_limit_event')).toHaveLength(status === 429 ? 1 : 0);
  // Only a turn that the agent has worked on proves that it has the input.
  expect(bridge.echoes).toEqual(prompt === 'limit-text' ? [prompt] : []);
  expect(await bridge.end()).toBe(1);
});

test('a refusal is no success', async () => {
  await using bridge = new RunningBridge(acp([]));
  bridge.say('refusal');
  expect(await bridge.results(1)).toMatchObject({ is_error: true, result: 'The agent stopped: refusal.' });
});

test('unknown lines are kept, and the turn continues', async () => {
  await using bridge = new RunningBridge(acp([]));
  bridge.say('garbage');
  expect(await bridge.results(1)).toMatchObject({ is_error: false, result: 'still here' });
  const kept = bridge.ofType('bridge');
  expect(kept).toContainEqual({ type: 'bridge', raw: 'this is no JSON' });
  expect(kept).toContainEqual({ type: 'bridge', subtype: 'oversized', bytes: 1024 * 1024 + 1 });
  expect(kept).toContainEqual({ type: 'bridge', raw: { neither: 'request nor answer' } });
  expect(JSON.stringify(kept)).toContain('"secret":"kept"');
  expect(JSON.stringify(kept)).toContain('not mine');
});

test('a conversation is resumed as the agent offers it, and its replay is not reported again', async () => {
  for (const [offer, method] of [
    ['resume', 'session/resume'],
    ['load', 'session/load'],
  ] as const) {
    await using bridge = new RunningBridge(acp(['--resume', 'sess-1'], offer));
    bridge.say('again');
    expect(await bridge.results(1)).toMatchObject({ result: 'You said: again', session_id: 'sess-1' });
    expect(bridge.stderr).toContain(`${method} {"sessionId":"sess-1"`);
    expect(bridge.ofType('bridge').map((line) => line['subtype'])).toEqual(offer === 'load' ? ['replay'] : []);
  }
});

test('a fork uses session/fork, and is refused if the agent has none', async () => {
  await using able = new RunningBridge(acp(['--resume', 'old', '--fork-session'], 'fork'));
  able.say('hi');
  expect(await able.results(1)).toMatchObject({ is_error: false, session_id: 'sess-1' });
  await using unable = new RunningBridge(acp(['--resume', 'old', '--fork-session'], 'load'));
  expect(await unable.exit).toBe(1);
  expect(unable.ofType('result')[0]).toMatchObject({
    is_error: true,
    result: 'This agent cannot fork an earlier conversation.',
  });
});

test('a missing conversation is an error with the agent’s message', async () => {
  await using bridge = new RunningBridge(acp(['--resume', 'unknown'], 'load'));
  expect(await bridge.exit).toBe(1);
  expect(bridge.ofType('result')[0]).toMatchObject({ is_error: true, result: 'Internal error: No such session.' });
});

test('the system prompt, MCP servers and the model reach the agent, and none of it is on its command line', async () => {
  await using directory = await temporaryDirectory();
  const [prompt, mcp] = [join(directory.path, 'prompt.md'), join(directory.path, 'mcp.json')];
  await writeFile(prompt, 'Be kind.\n');
  await writeFile(
    mcp,
    JSON.stringify({
      mcpServers: {
        pawl: { command: 'pawl', args: ['mcp'], env: { KEY: 'secret' }, env_vars: ['PATH', 'NO_SUCH_VARIABLE'] },
      },
    }),
  );
  const words = ['--append-system-prompt-file', prompt, '--mcp-config', mcp, '--model', 'large'];
  await using bridge = new RunningBridge(acp(words), directory.path);
  bridge.say('one');
  bridge.say('two');
  await bridge.results(2);
  const texts = bridge.ofType('result').map((line) => line['result']);
  expect(texts).toEqual(['You said: <system-prompt>\nBe kind.\n</system-prompt>\n\none', 'You said: two']);
  expect(bridge.echoes).toEqual(['one', 'two']);
  expect(bridge.stderr).toContain(
    '"mcpServers":[{"name":"pawl","command":"pawl","args":["mcp"],"env":' +
      `[{"name":"PATH","value":${JSON.stringify(process.env['PATH'])}},{"name":"KEY","value":"secret"}]}]`,
  );
  expect(bridge.stderr).toContain(`"cwd":"${directory.path}"`);
  expect(bridge.stderr).toContain('model large');
  expect(bridge.stderr).toContain('"terminal":false');
});
