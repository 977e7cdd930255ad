import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stage } from '../agent-process.ts';

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
