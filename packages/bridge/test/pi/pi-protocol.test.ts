import { expect, test } from 'vitest';
import { fake, RunningBridge } from '../support/run-bridge.ts';

const pi = (...words: string[]) => ['pi', ...words, ...fake('fake-pi', '--mode', 'rpc')];

test('a pi turn is reported as deltas, a whole text, the echo of its input and a result', async () => {
  await using bridge = new RunningBridge(pi());
  bridge.say('hello');
  const result = await bridge.results(1);
  expect(bridge.lines[0]).toMatchObject({
    type: 'system',
    subtype: 'init',
    session_id: 'pi-session',
    model: 'scripted-1',
  });
  expect(bridge.echoes).toEqual(['hello']);
  expect(bridge.streamed).toEqual(['content_block_delta', 'message_start', 'message_delta']);
  expect(bridge.blocks).toEqual([{ type: 'text', text: 'You said: hello' }]);
  expect(result).toMatchObject({ is_error: false, result: 'You said: hello', total_cost_usd: 0.25, num_turns: 1 });
  expect(result['usage']).toEqual({
    input_tokens: 10,
    output_tokens: 5,
    cache_read_input_tokens: 2,
    cache_creation_input_tokens: 1,
  });
  // What pi only repeats is not kept twice.
  expect(bridge.ofType('bridge')).toEqual([]);
  expect(await bridge.end()).toBe(0);
});

test('tools are reported', async () => {
  await using bridge = new RunningBridge(pi());
  bridge.say('tool');
  await bridge.results(1);
  expect(bridge.blocks).toEqual([
    { type: 'tool_use', id: 't1', name: 'bash', input: { command: 'ls' } },
    { type: 'tool_result', tool_use_id: 't1', content: 'no such file', is_error: true },
    { type: 'text', text: 'done' },
  ]);
});

test('the conversation, the model, the prompt and the tools are arguments', async () => {
  const words = [
    '--resume',
    'old',
    '--fork-session',
    '--session-id',
    'new',
    '--model',
    'm',
    '--permission',
    'read-only',
  ];
  await using bridge = new RunningBridge(pi(...words));
  expect(await bridge.end()).toBe(0);
  const own = ['--mode', 'rpc', '--fork', 'old', '--session-id', 'new', '--model', 'm', '--tools', 'read,grep,find,ls'];
  expect(bridge.stderr).toContain(JSON.stringify(own));
});

test('an input during a run is steered into it', async () => {
  await using bridge = new RunningBridge(pi());
  bridge.say('hang');
  await bridge.until('the turn', (line) => line.type === 'assistant');
  bridge.say('more');
  expect(await bridge.results(1)).toMatchObject({ is_error: false, result: 'steered: more' });
  expect(bridge.echoes).toEqual(['hang', 'more']);
});

test('an input at the end of a run starts another, and the turn ends with that', async () => {
  await using bridge = new RunningBridge(pi());
  bridge.say('hang');
  await bridge.until('the turn', (line) => line.type === 'assistant');
  bridge.say('race');
  expect(await bridge.results(1)).toMatchObject({ is_error: false, result: 'a second run' });
  expect(bridge.echoes).toEqual(['hang', 'race']);
  expect(await bridge.end()).toBe(0);
  expect(bridge.ofType('result')).toHaveLength(1);
});

test('an interrupt ends the turn and not the session', async () => {
  await using bridge = new RunningBridge(pi());
  bridge.say('hang');
  await bridge.until('the turn', (line) => line.type === 'assistant');
  bridge.interrupt();
  expect(await bridge.results(1)).toMatchObject({ subtype: 'error_during_execution', is_error: true });
  bridge.say('after');
  expect(await bridge.results(2)).toMatchObject({ is_error: false, result: 'You said: after' });
});

test('an error after the retries of pi is the error of the turn', async () => {
  await using bridge = new RunningBridge(pi());
  bridge.say('limit');
  expect(await bridge.results(1)).toMatchObject({
    is_error: true,
    api_error_status: 429,
    result: '429 rate_limit_error',
  });
  expect(bridge.ofType('rate_limit_event')).toHaveLength(1);
  expect(bridge.lines).toContainEqual(
    expect.objectContaining({ subtype: 'api_retry', attempt: 1, retry_delay_ms: 20 }),
  );
  bridge.say('better now');
  expect(await bridge.results(2)).toMatchObject({ is_error: false });
});

test('a prompt that pi refuses is a failed turn, and text with a slash is not a command', async () => {
  await using bridge = new RunningBridge(pi());
  bridge.say('refused');
  expect(await bridge.results(1)).toMatchObject({ is_error: true, result: 'compaction is in progress' });
  bridge.say('/quit now');
  expect(await bridge.results(2)).toMatchObject({ result: 'You said:  /quit now' });
  expect(bridge.echoes).toEqual(['/quit now']);
});

test('a dialog of an extension is cancelled, since no person can answer', async () => {
  await using bridge = new RunningBridge(pi());
  bridge.say('dialog');
  const { result } = await bridge.results(1);
  expect(result).toBe('dialog: {"type":"extension_ui_response","id":"ui-1","cancelled":true}');
});

test('unknown lines are kept, and the turn continues', async () => {
  await using bridge = new RunningBridge(pi());
  bridge.say('garbage');
  expect(await bridge.results(1)).toMatchObject({ is_error: false, result: 'still here' });
  expect(bridge.ofType('bridge')).toContainEqual({ type: 'bridge', raw: 'this is no JSON' });
});

test('a missing conversation is an error with pi’s last output', async () => {
  await using bridge = new RunningBridge(pi('--resume', 'unknown'));
  expect(await bridge.exit).toBe(1);
  expect(bridge.ofType('result')[0]?.['result']).toContain("No session found matching 'unknown'");
});
