import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { expect, test } from 'vitest';
import { fake, RunningBridge } from '../support/run-bridge.ts';

const codex = (...words: string[]) => ['codex', ...words, ...fake('fake-codex')];

test('a Codex turn is reported as deltas, a whole text, the echo of its input and a result', async () => {
  await using bridge = new RunningBridge(codex());
  bridge.say('hello', { uuid: 'mail-1' });
  const result = await bridge.results(1);
  expect(bridge.lines[0]).toMatchObject({ type: 'system', subtype: 'init', session_id: 'thread-1', model: 'gpt-fake' });
  expect(bridge.ofType('user')[0]).toMatchObject({ isReplay: true, uuid: 'mail-1' });
  expect(bridge.ofType('stream_event')).toHaveLength(1);
  expect(bridge.blocks).toEqual([{ type: 'text', text: 'You said: hello' }]);
  expect(result).toMatchObject({ subtype: 'success', is_error: false, result: 'You said: hello' });
  expect(result).not.toHaveProperty('total_cost_usd');
  expect(await bridge.end()).toBe(0);
});

test('tools and thoughts are reported, and usage counts only this process', async () => {
  await using bridge = new RunningBridge(codex('--resume', 'thread-1'));
  bridge.say('tool');
  const result = await bridge.results(1);
  expect(bridge.blocks).toEqual([
    { type: 'thinking', thinking: 'I need a tool.', signature: '' },
    { type: 'tool_use', id: 'c', name: 'Bash', input: { command: 'ls' } },
    { type: 'tool_result', tool_use_id: 'c', content: 'no such file', is_error: true },
    { type: 'text', text: 'done' },
  ]);
  // The thread stood at 4000 tokens before; the cache is counted apart.
  expect(result['usage']).toMatchObject({ input_tokens: 2_700, cache_read_input_tokens: 300, output_tokens: 30 });
  expect(result['num_turns']).toBe(2);
  // Each call is told at once too.
  const calls = ['message_start', 'message_delta'];
  expect(bridge.streamed).toEqual([...calls, 'content_block_delta', ...calls]);
});

test('an input during a turn is steered into it', async () => {
  await using bridge = new RunningBridge(codex());
  bridge.say('hang');
  await bridge.until('the turn', (line) => line.type === 'assistant');
  bridge.say('more');
  expect(await bridge.results(1)).toMatchObject({ is_error: false, result: 'steered: more' });
  expect(bridge.echoes).toEqual(['hang', 'more']);
});

test('an interrupt ends the turn and not the session', async () => {
  await using bridge = new RunningBridge(codex());
  bridge.say('hang');
  await bridge.until('the turn', (line) => line.type === 'assistant');
  bridge.interrupt();
  expect(await bridge.results(1)).toMatchObject({ subtype: 'error_during_execution', is_error: true });
  bridge.say('after');
  expect(await bridge.results(2)).toMatchObject({ is_error: false, result: 'You said: after' });
  expect(await bridge.end()).toBe(0);
});

test('a usage limit is reported with the end of the exhausted window', async () => {
  await using bridge = new RunningBridge(codex());
  bridge.say('limit');
  expect(await bridge.results(1)).toMatchObject({ is_error: true, api_error_status: 429 });
  expect(bridge.ofType('rate_limit_event')[0]).toMatchObject({
    rate_limit_info: { status: 'rejected', resetsAt: 1_900_000_000 },
  });
  expect(bridge.lines).toContainEqual(expect.objectContaining({ subtype: 'api_retry', error: 'Reconnecting... 1/1' }));
  expect(await bridge.end()).toBe(1);
});

test.each([
  ['overload', 529],
  ['status', 502],
])('the error "%s" has the status %i', async (prompt, status) => {
  await using bridge = new RunningBridge(codex());
  bridge.say(prompt);
  expect(await bridge.results(1)).toMatchObject({ is_error: true, api_error_status: status });
  expect(bridge.ofType('rate_limit_event')).toEqual([]);
});

test.each([
  ['full', 'accept', 'danger-full-access'],
  ['read-only', 'decline', 'read-only'],
])('permission %s answers questions with "%s" and sets the sandbox %s', async (permission, decision, sandbox) => {
  await using bridge = new RunningBridge(codex('--permission', permission));
  bridge.say('ask');
  expect(await bridge.results(1)).toMatchObject({ result: `decision: {"decision":"${decision}"}` });
  expect(bridge.stderr).toContain(`"approvalPolicy":"never","sandbox":"${sandbox}"`);
});

test('the system prompt, MCP servers and the model go into the thread', async () => {
  await using directory = await temporaryDirectory();
  const [prompt, mcp] = [join(directory.path, 'prompt.md'), join(directory.path, 'mcp.json')];
  await writeFile(prompt, 'Be kind.');
  const named = { command: 'named', args: [], env_vars: ['PAWL_AGENT_TOKEN'] };
  await writeFile(mcp, JSON.stringify({ mcpServers: { pawl: { command: 'pawl', args: ['mcp'] }, named } }));
  const words = ['--append-system-prompt-file', prompt, '--mcp-config', mcp, '--model', 'large'];
  await using bridge = new RunningBridge(codex(...words));
  expect(await bridge.end()).toBe(0);
  expect(bridge.lines).toContainEqual(expect.objectContaining({ subtype: 'init', model: 'large' }));
  expect(bridge.stderr).toContain('"developerInstructions":"Be kind."');
  expect(bridge.stderr).toContain(
    '"config":{"mcp_servers":{"pawl":{"command":"pawl","args":["mcp"],"env":{}},' +
      '"named":{"command":"named","args":[],"env":{},"env_vars":["PAWL_AGENT_TOKEN"]}}}',
  );
});

test('a thread is resumed or forked, and a missing one is an error', async () => {
  await using resumed = new RunningBridge(codex('--resume', 'thread-1'));
  await using forked = new RunningBridge(codex('--resume', 'thread-1', '--fork-session'));
  await using lost = new RunningBridge(codex('--resume', 'unknown'));
  expect(await resumed.end()).toBe(0);
  expect(resumed.lines[0]).toMatchObject({ subtype: 'init', session_id: 'thread-1' });
  expect(await forked.end()).toBe(0);
  expect(forked.lines[0]).toMatchObject({ subtype: 'init', session_id: 'thread-2' });
  expect(await lost.exit).toBe(1);
  expect(lost.ofType('result')[0]).toMatchObject({
    is_error: true,
    result: 'thread/resume: no rollout found for thread id unknown',
  });
});

test('unknown lines are kept, and the turn continues', async () => {
  await using bridge = new RunningBridge(codex());
  bridge.say('garbage');
  expect(await bridge.results(1)).toMatchObject({ is_error: false, result: 'still here' });
  expect(bridge.ofType('bridge')).toContainEqual({ type: 'bridge', raw: 'this is no JSON' });
  expect(bridge.ofType('bridge')).toContainEqual({ type: 'bridge', raw: { neither: 'request nor answer' } });
});
