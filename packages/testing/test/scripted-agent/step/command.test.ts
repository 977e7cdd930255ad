import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitUntil } from '../../../src/wait-until.ts';
import { blocksOf, stage } from '../agent-process.ts';
import type { Stage } from '../agent-process.ts';

test('shell shows output and failure, and the scenario goes on', async () => {
  await using on = await stage();
  const steps = [
    { shell: 'pwd; echo bad >&2' },
    { shell: 'echo x; exit 3' },
    { shell: 'kill -9 $$' },
    { shell: 'true' },
    { say: 'on' },
  ];
  const agent = await on.play(steps);
  expect(agent.toolResults[0]?.content.split('\n').toSorted()).toEqual([on.directory, 'bad']);
  expect(agent.toolResults.slice(1).map((result) => [result.content, result.is_error])).toEqual([
    ['x\nExit code 3', true],
    ['Ended by SIGKILL', true],
    ['', false],
  ]);
  expect(agent.said).toEqual(['on']);
});

test('shell never reads a prompt as code', async () => {
  await using on = await stage();
  const prompt = `'; touch pwned; echo "$(touch pwned)" \`touch pwned\``;
  const agent = await on.play([{ shell: 'echo "{prompt}"; echo {task}; echo {turns}' }], { prompt });
  expect(agent.toolResults[0]?.content).toBe(`${prompt}\n${prompt}\n1`);
  expect(existsSync(join(on.directory, 'pwned'))).toBe(false);
});

test('a command that prints too much is cut, and one that leaves a child behind does not hold the scenario', async () => {
  await using on = await stage();
  const agent = await on.play([{ shell: 'head -c 100000 /dev/zero | tr "\\0" x' }, { shell: 'sleep 60 & echo $!' }]);
  expect(agent.toolResults[0]?.content).toMatch(/^x{30000}\n… 70000 more characters$/);
  process.kill(Number(agent.toolResults[1]?.content), 'SIGKILL');
  expect(agent.code).toBe(0);
});

test('tool shows what it was told to', async () => {
  await using on = await stage();
  const call = { name: 'WebFetch', input: { url: 'http://{agent}', deep: [1] }, result: 'page of {agent}' };
  const agent = await on.play([{ tool: call }, { tool: { name: 'Read', is_error: true } }]);
  expect(blocksOf(agent.lines, 'assistant')[0]).toMatchObject({
    name: 'WebFetch',
    input: { url: 'http://agent', deep: [1] },
  });
  expect(agent.toolResults.map((result) => [result.content, result.is_error])).toEqual([
    ['page of agent', false],
    ['', true],
  ]);
});

test('a tool that takes time is shown as called at once, and its result comes afterwards', async () => {
  await using on = await stage();
  const steps = [{ tool: { name: 'Build', result: 'built', takes: '300ms' } }];
  const agent = await on.play(steps);
  expect(agent.toolResults.map((result) => result.content)).toEqual(['built']);
  expect(agent.results[0]?.['duration_ms']).toBeGreaterThanOrEqual(299);
});

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('%s ends a tool that takes time', async (signal, code) => {
  await using on = await stage();
  const steps = [{ tool: { name: 'Build', result: 'built', takes: '24h' } }];
  await using agent = on.start(['--scenario', await on.scenario(steps)]);
  agent.child.stdin.end('Go');
  await waitUntil(() => blocksOf(agent.lines, 'assistant').length === 1, { what: 'the tool call' });
  agent.child.kill(signal);
  expect(await agent.exited).toEqual([code, null]);
  expect(agent.toolResults).toEqual([]);
});

function fakePawl(on: Stage, script: string): string {
  const path = join(on.path, 'pawl');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

test.each(['PAWL_BIN', 'PATH'])('mail, ask, answer and pawl call the pawl command found by %s', async (by) => {
  await using on = await stage();
  const path = fakePawl(on, 'for word in "$@"; do echo "[$word]"; done');
  const env = by === 'PATH' ? { PATH: `${on.path}:${process.env['PATH']}` } : { PAWL_BIN: path };
  const steps = [
    { mail: { to: 'calm-owl', body: '--help me, {agent}' } },
    { ask: { to: 'calm-owl', question: "what's up?" } },
    { answer: { conversation: 'c1', body: 'all fine' } },
    { pawl: ['fork', '--name', '{agent}-{turns}', '--', '{task}'] },
  ];
  const agent = await on.play(steps, { env, prompt: "--all the 'work'; $(touch x)" });
  expect(agent.toolResults.map((result) => result.content.split('\n'))).toEqual([
    ['[send]', '[--]', '[calm-owl]', '[--help me, agent]'],
    ['[ask]', '[--agent-id]', '[calm-owl]', '[--]', "[what's up?]"],
    ['[answer]', '[--conversation-id]', '[c1]', '[--]', '[all fine]'],
    ['[fork]', '[--name]', '[agent-1]', '[--]', "[--all the 'work'; $(touch x)]"],
  ]);
  expect(blocksOf(agent.lines, 'assistant')[1]).toMatchObject({
    name: 'Bash',
    input: { command: `pawl ask --agent-id calm-owl -- 'what'\\''s up?'` },
  });
});

test('a pawl command that fails or is missing is a failed tool call', async () => {
  await using on = await stage();
  const steps = [{ pawl: ['kill', 'calm-owl'] }, { say: 'on' }];
  const failing = await on.play(steps, { env: { PAWL_BIN: fakePawl(on, 'echo no such agent >&2; exit 3') } });
  expect(failing.toolResults[0]).toMatchObject({ content: 'no such agent\nExit code 3', is_error: true });
  const missing = await on.play(steps, { env: { PAWL_BIN: join(on.path, 'missing') } });
  expect(missing.toolResults[0]?.content).toContain('cannot be started');
  expect([...failing.said, ...missing.said]).toEqual(['on', 'on']);
  const tooLong = [{ mail: { to: 'calm-owl', body: 'x'.repeat(200_000) } }, { say: 'on' }];
  const long = await on.play(tooLong, { env: { PAWL_BIN: fakePawl(on, 'true') } });
  expect([long.toolResults[0]?.is_error, ...long.said]).toEqual([true, 'on']);
});

test.each([true, false])('fork_child with detach %s starts a process that outlives the agent', async (detach) => {
  await using on = await stage();
  const agent = await on.play([{ fork_child: { detach, seconds: 60 } }]);
  const pid = Number(/^pid (\d+)$/.exec(agent.toolResults[0]?.content ?? '')?.[1]);
  try {
    expect(agent.code).toBe(0);
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ');
    expect(stat[1]).toBe('(sleep)');
    const [group, ownGroup] = [Number(stat[4]), pid];
    expect(group === ownGroup).toBe(detach);
  } finally {
    process.kill(pid, 'SIGKILL');
  }
});
