import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitUntil } from '../../../src/wait-until.ts';
import { blocksOf, stage } from '../agent-process.ts';
import type { AgentProcess } from '../agent-process.ts';

test('say, think, echo_prompt and print_env', async () => {
  await using on = await stage();
  const steps = [
    { think: 'hm {n}' },
    { say: '{agent} {id}' },
    'echo_prompt',
    { print_env: 'COLOUR' },
    { print_env: 'NOPE' },
  ];
  const env = { PAWL_AGENT_NAME: 'quick-fox', PAWL_AGENT_ID: 'id-1', COLOUR: 'red' };
  const agent = await on.play(steps, { prompt: 'two\nlines', env });
  expect(agent.said).toEqual(['quick-fox id-1', 'two\nlines', 'COLOUR=red', 'NOPE is not set']);
  expect(agent.code).toBe(0);
});

test('usage steps replace the derived numbers and add up', async () => {
  await using on = await stage();
  const usage = { usage: { input: 100, output: 20, cache: 7, cost: 0.5 } };
  const agent = await on.play([usage, { say: 'hello' }, { usage: { input: 1, output: 2 } }, 'complete']);
  expect(agent.results).toHaveLength(1);
  expect(agent.results[0]).toMatchObject({
    usage: { input_tokens: 101, output_tokens: 22, cache_read_input_tokens: 7, cache_creation_input_tokens: 0 },
    total_cost_usd: 0.5,
  });
});

test('the same scenario reports the same numbers', async () => {
  await using on = await stage();
  const steps = [{ say: 'hello' }, { shell: 'echo x' }];
  const [one, two] = [await on.play(steps), await on.play(steps)];
  expect(one.results[0]?.['usage']).toEqual(two.results[0]?.['usage']);
  expect(one.results[0]?.['total_cost_usd']).toBe(two.results[0]?.['total_cost_usd']);
});

test('sleep takes its time', async () => {
  await using on = await stage();
  const agent = await on.play([{ sleep: '300ms' }]);
  expect(agent.results[0]?.['duration_ms']).toBeGreaterThanOrEqual(299);
});

test('read_inputs lists the input files and what the manifest names', async () => {
  await using on = await stage();
  const input = join(on.directory, '.pawl/input');
  mkdirSync(join(input, 'context'), { recursive: true });
  writeFileSync(join(input, 'task.md'), 'task');
  writeFileSync(join(input, 'context/a.md'), 'a');
  writeFileSync(join(input, 'manifest.json'), JSON.stringify({ agentName: 'quick-fox', files: ['task.md', 3], n: 1 }));
  const agent = await on.play(['read_inputs']);
  expect(agent.toolResults[0]?.content).toBe('context/a.md\nmanifest.json\ntask.md');
  expect(agent.said).toEqual(['The manifest names\nagentName: quick-fox\nfiles: task.md']);
});

test('read_inputs survives missing inputs and a broken manifest', async () => {
  await using on = await stage();
  const none = await on.play(['read_inputs']);
  expect([none.code, none.toolResults[0]?.is_error]).toEqual([0, true]);
  const input = join(on.directory, '.pawl/input');
  mkdirSync(input, { recursive: true });
  expect((await on.play(['read_inputs'])).said).toEqual(['There is no manifest.']);
  writeFileSync(join(input, 'manifest.json'), '{"agent');
  expect((await on.play(['read_inputs'])).said[0]).toContain('The manifest cannot be read');
});

/** The pieces of text that were streamed so far. */
function deltas(agent: AgentProcess): string[] {
  return agent.lines.flatMap(({ event }) => {
    const { type, delta } = (event ?? {}) as { type?: string; delta?: { type: string; text: string } };
    return type === 'content_block_delta' && delta?.type === 'text_delta' ? [delta.text] : [];
  });
}

test('stream writes its text in pieces over its time, and then the whole message', async () => {
  await using on = await stage();
  const agent = await on.play([{ stream: { text: 'I am {agent} 🦊🦊🦊', for: '200ms', pieces: 4 } }, 'complete']);
  const streamed = agent.lines.filter((line) => line.type === 'stream_event' || line.type === 'assistant');
  expect(streamed.map((line) => (line['event'] as { type: string } | undefined)?.type ?? line.type)).toEqual([
    'message_start',
    'content_block_start',
    ...Array.from({ length: 4 }, () => 'content_block_delta'),
    'assistant',
    'content_block_stop',
    'message_stop',
  ]);
  expect(deltas(agent)).toEqual(['I am', ' ag', 'ent ', '🦊🦊🦊']);
  expect(agent.said).toEqual(['I am agent 🦊🦊🦊']);
  const begun = streamed.flatMap(
    (line) => (line['event'] as { message?: { id: string } } | undefined)?.message?.id ?? [],
  );
  const whole = streamed.flatMap((line) => (line['message'] as { id: string } | undefined)?.id ?? []);
  expect(begun).toEqual(whole);
  expect(whole).toHaveLength(1);
  expect(agent.results[0]).toMatchObject({ result: 'I am agent 🦊🦊🦊', num_turns: 1 });
  expect(agent.results[0]?.['duration_ms']).toBeGreaterThanOrEqual(198);
});

test('a short text has fewer pieces, and an empty one is said too', async () => {
  await using on = await stage();
  const agent = await on.play([
    { stream: { text: 'hi', for: '1ms', pieces: 9 } },
    { stream: { text: '', for: '1ms' } },
  ]);
  expect(deltas(agent)).toEqual(['h', 'i', '']);
  expect(agent.said).toEqual(['hi', '']);
});

test('a half-written answer can be seen, and a stop leaves it half-written', async () => {
  await using on = await stage();
  const text = 'a long answer';
  await using agent = on.start(['--scenario', await on.scenario([{ stream: { text, for: '24h', pieces: 2 } }])]);
  agent.child.stdin.end('Go');
  await waitUntil(() => deltas(agent).length === 1, { what: 'the first half' });
  agent.child.kill('SIGINT');
  expect(await agent.exited).toEqual([130, null]);
  expect(deltas(agent)).toEqual(['a long ']);
  expect(blocksOf(agent.lines, 'assistant')).toEqual([]);
});

test('recall says the first line of every turn', async () => {
  await using on = await stage();
  const id = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a19';
  const prompt = '<task>\n\nCount the stars\nand the moons\n</task>';
  await on.play([{ say: 'one' }, 'wait', 'recall'], { args: ['--session-id', id], prompt });
  const again = on.start(['--resume', id]);
  again.child.stdin.end(`${'x'.repeat(300)}\nrest`);
  await again.exited;
  expect(again.said).toEqual([`Count the stars\n${'x'.repeat(200)}`]);
});
