import { spawnSync } from 'node:child_process';
import { limits } from '@pawl/schema/limit';
import { waitUntil } from '@pawl/testing/wait-until';
import { expect, test } from 'vitest';
import { bridgeLimits } from '../src/limit.ts';
import { fake, isRunning, RunningBridge } from './support/run-bridge.ts';

const agents = [
  ['acp', 'fake-acp'],
  ['codex', 'fake-codex'],
  ['pi', 'fake-pi'],
] as const;

/** The process that the fake agent started as its tool. */
async function toolOf(bridge: RunningBridge): Promise<number> {
  const line = await bridge.until('the tool', (each) => /pid \d+/.test(JSON.stringify(each)));
  return Number(/pid (\d+)/.exec(JSON.stringify(line))?.[1]);
}

test.each(agents)('%s: an agent that dies in its turn leaves an error with its last output', async (protocol, name) => {
  await using bridge = new RunningBridge([protocol, ...fake(name)]);
  bridge.say('crash');
  expect(await bridge.exit).toBe(1);
  const [result, ...others] = bridge.ofType('result');
  expect(others).toEqual([]);
  expect(result).toMatchObject({ is_error: true, subtype: 'error_during_execution' });
  expect(result?.['result']).toMatch(/ended with exit code 7\.\n[^]*the engine is on fire/);
  expect(bridge.stderr).toContain('the engine is on fire');
});

test.each(agents)('%s: SIGTERM ends the turn, the agent and its running tool', async (protocol, name) => {
  await using bridge = new RunningBridge([protocol, ...fake(name)]);
  bridge.say('hang');
  const tool = await toolOf(bridge);
  bridge.say('never begun');
  bridge.signal('SIGTERM');
  expect(await bridge.exit).toBe(143);
  await waitUntil(() => !isRunning(tool), { what: 'the end of the tool' });
  // Codex and pi took the second input into the turn; in ACP it was waiting.
  expect(bridge.ofType('result')).toHaveLength(1);
});

test('SIGINT to an unresponsive agent ends all of it in time', async () => {
  await using bridge = new RunningBridge(['acp', ...fake('fake-acp', 'stubborn')]);
  bridge.say('hang');
  const tool = await toolOf(bridge);
  bridge.signal('SIGINT');
  expect(await bridge.exit).toBe(130);
  // Asking takes a half, leaving three parts of it: all of that before whoever stops the session kills.
  expect((1 / 2 + 1 / 4 + 1 / 2 + 1 / 2) * bridgeLimits.politeMs).toBeLessThan(limits.stopGraceMs);
  await waitUntil(() => !isRunning(tool), { what: 'the end of the tool' });
});

test('an agent that is signalled together with the bridge did not crash', async () => {
  await using bridge = new RunningBridge(['codex', ...fake('fake-codex')]);
  bridge.say('hang');
  const tool = await toolOf(bridge);
  const agent = Number(spawnSync('ps', ['-o', 'ppid=', '-p', String(tool)], { encoding: 'utf8' }).stdout);
  process.kill(agent, 'SIGTERM');
  bridge.signal('SIGTERM');
  expect(await bridge.exit).toBe(143);
  // The agent left its tool behind before anybody looked; whoever signalled them all ends it too.
  if (isRunning(tool)) process.kill(tool, 'SIGKILL');
});

test('the end of stdin lets the running and the waiting turns finish', async () => {
  await using bridge = new RunningBridge(['acp', ...fake('fake-acp')]);
  for (const text of ['one', 'two', 'three']) bridge.say(text);
  expect(await bridge.end()).toBe(0);
  expect(bridge.ofType('result').map((line) => line['result'])).toEqual([
    'You said: one',
    'You said: two',
    'You said: three',
  ]);
});

test.each(agents)(
  '%s: an input with a known id is handed over once, in its turn and after it',
  async (protocol, name) => {
    await using bridge = new RunningBridge([protocol, ...fake(name)]);
    const uuid = '00000001-1111-4111-8111-111111111111';
    bridge.say('hello', { uuid });
    bridge.say('hello', { uuid });
    expect(await bridge.results(1)).toMatchObject({ result: 'You said: hello' });
    bridge.say('hello', { uuid });
    bridge.say('hello', { uuid: uuid.replace('1', '2') });
    expect(await bridge.results(2)).toMatchObject({ result: 'You said: hello' });
    bridge.say('hello');
    bridge.say('hello');
    expect(await bridge.end()).toBe(0);
    expect(bridge.echoes).toEqual(['hello', 'hello', 'hello', 'hello']);
    const echoes = bridge.ofType('user').map((line) => line['uuid']);
    expect(echoes).toEqual([uuid, uuid.replace('1', '2'), undefined, undefined]);
  },
);

test('codex: an input that the agent accepts but does not show is not echoed', async () => {
  await using bridge = new RunningBridge(['codex', ...fake('fake-codex')]);
  bridge.say('hang', { uuid: 'first' });
  await toolOf(bridge);
  bridge.say('unseen', { uuid: 'second' });
  expect(await bridge.results(1)).toMatchObject({ is_error: false });
  expect(bridge.echoes).toEqual(['hang']);
});

test('pi: an input that the agent accepts but does not show is not echoed', async () => {
  await using bridge = new RunningBridge(['pi', ...fake('fake-pi', '--mode', 'rpc')]);
  bridge.say('hang', { uuid: 'first' });
  await toolOf(bridge);
  bridge.say('unseen', { uuid: 'second' });
  expect(await bridge.results(1)).toMatchObject({ is_error: false });
  expect(bridge.echoes).toEqual(['hang']);
});

test('invalid input is reported and skipped', async () => {
  await using bridge = new RunningBridge(['pi', ...fake('fake-pi')]);
  bridge.write({ type: 'assistant' });
  bridge.write({ type: 'user', message: { content: [{ type: 'image' }] } });
  bridge.write({ type: 'control_request', request_id: 'c', request: { subtype: 'dance' } });
  bridge.write({ type: 'user', message: { role: 'user', content: [{ type: 'text', text: 'blocks' }] } });
  expect(await bridge.results(1)).toMatchObject({ result: 'You said: blocks' });
  expect(bridge.stderr.match(/skipped an input line/g)).toHaveLength(2);
  expect(bridge.ofType('control_response')[0]).toMatchObject({ response: { subtype: 'error', request_id: 'c' } });
});

test('a program that does not exist is an error that names it', async () => {
  await using bridge = new RunningBridge(['acp', '--', 'no-such-agent-anywhere']);
  bridge.say('hello');
  expect(await bridge.exit).toBe(1);
  expect(bridge.ofType('result')[0]?.['result']).toContain('The agent no-such-agent-anywhere could not be started');
});

test('a file that cannot be read is refused before the agent starts', async () => {
  await using bridge = new RunningBridge(['pi', '--mcp-config', 'no-such-file.json', ...fake('fake-pi')]);
  expect(await bridge.exit).toBe(2);
  expect(bridge.stderr).toContain('no-such-file.json cannot be read');
});
