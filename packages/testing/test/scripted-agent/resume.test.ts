import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitUntil } from '../../src/wait-until.ts';
import { AgentProcess, blocksOf, stage, userTurn } from './agent-process.ts';
import type { Line, Stage } from './agent-process.ts';

const id = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a12';
const streamInput = ['--input-format', 'stream-json'];

async function resume(on: Stage, args: string[], prompt = 'Go on') {
  const agent = on.start(args);
  agent.child.stdin.end(prompt);
  const [code] = await agent.exited;
  return Object.assign(agent, { code });
}

test('a resumed conversation goes on after its wait and knows its history', async () => {
  await using on = await stage();
  const steps = [{ say: 'one {turns}' }, 'wait', { say: 'two {turns} {task}' }, 'wait', { say: 'three {turns}' }];
  await on.play(steps, { args: ['--session-id', id], prompt: 'The task' });
  const second = await resume(on, ['--resume', id]);
  const third = await resume(on, ['--resume', id]);
  expect(second.said).toEqual(['two 2 The task']);
  expect(third.said).toEqual(['three 3']);
  expect(third.lines[0]).toMatchObject({ type: 'system', subtype: 'init', session_id: id });
});

test('a finished scenario ends every further turn at once', async () => {
  await using on = await stage();
  await on.play([{ say: 'all' }], { args: ['--session-id', id] });
  const again = await resume(on, ['--resume', id]);
  expect(again.code).toBe(0);
  expect(again.results[0]).toMatchObject({ is_error: false, result: 'The scenario has no more steps.' });
});

test('a resume may name another scenario; the position is kept', async () => {
  await using on = await stage();
  await on.play([{ say: 'a' }, 'wait', { say: 'b' }], { args: ['--session-id', id] });
  const other = await on.scenario([{ say: 'x' }, { say: 'y' }, { say: 'z' }], 'other.json');
  expect((await resume(on, ['--resume', id, '--scenario', other])).said).toEqual(['z']);
});

test('a fork goes on from a copy under a new id and leaves the original alone', async () => {
  await using on = await stage();
  await on.play([{ say: 'a' }, 'wait', { say: 'b {turns} {session}' }], { args: ['--session-id', id] });
  const before = readFileSync(join(on.state, `${id}.json`), 'utf8');
  const fork = await resume(on, ['--resume', id, '--fork-session']);
  const forkId = fork.lines[0]?.session_id ?? '';
  expect(forkId).not.toBe(id);
  expect(fork.said).toEqual([`b 2 ${forkId}`]);
  expect(readFileSync(join(on.state, `${id}.json`), 'utf8')).toBe(before);
  const chosen = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a13';
  const named = await resume(on, ['--resume', id, '--fork-session', '--session-id', chosen]);
  expect(named.lines[0]?.session_id).toBe(chosen);
  expect((await resume(on, ['--resume', id])).said).toEqual([`b 2 ${id}`]);
});

test('a fork in another working directory remembers all turns of the original, and adds its own [S1-32]', async () => {
  await using on = await stage();
  const steps = [{ say: 'one' }, 'wait', { say: 'two' }, 'wait', 'recall', { say: '{turns} {task}' }];
  await on.play(steps, { args: ['--session-id', id], prompt: 'The task' });
  await resume(on, ['--resume', id], 'A second turn\nwith more');
  const elsewhere = join(on.path, 'elsewhere');
  mkdirSync(elsewhere);
  const fork = new AgentProcess(on.program, ['--resume', id, '--fork-session'], elsewhere, on.environment);
  fork.child.stdin.end('Only the fork knows');
  expect(await fork.exited).toEqual([0, null]);
  expect(fork.lines[0]).toMatchObject({ cwd: elsewhere });
  expect(fork.said).toEqual(['The task\nA second turn\nOnly the fork knows', '3 The task']);
  expect((await resume(on, ['--resume', id], 'The original goes on')).said).toEqual([
    'The task\nA second turn\nThe original goes on',
    '3 The task',
  ]);
});

test('a fork made by a step goes on after that step, in the original and in the copy', async () => {
  await using on = await stage();
  const pawl = join(on.path, 'pawl');
  // The copy is made and played while the original still waits for this command.
  const fork = `echo "in the copy" | '${process.execPath}' '${on.program}' --resume ${id} --fork-session`;
  writeFileSync(pawl, `#!/bin/sh\necho call >> calls\n${fork}\n`, { mode: 0o755 });
  const steps = [{ say: 'before' }, { pawl: ['fork'] }, { say: 'after {turns}' }, 'recall'];
  const agent = await on.play(steps, { args: ['--session-id', id], prompt: 'Go', env: { PAWL_BIN: pawl } });
  const copy = (agent.toolResults[0]?.content ?? '').split('\n').map((line) => JSON.parse(line) as Line);
  expect(blocksOf(copy, 'assistant').map((block) => block['text'])).toEqual(['after 2', 'Go\nin the copy']);
  expect(agent.said).toEqual(['before', 'after 1', 'Go']);
  expect(readFileSync(join(on.directory, 'calls'), 'utf8')).toBe('call\n');
});

test('a fork that names another scenario begins with its first step', async () => {
  await using on = await stage();
  await on.play([{ say: 'a' }, 'wait', { say: 'b' }], { args: ['--session-id', id] });
  const other = await on.scenario([{ say: 'x {turns}' }, { say: 'y' }], 'other.json');
  expect((await resume(on, ['--resume', id, '--fork-session', '--scenario', other])).said).toEqual(['x 2', 'y']);
  const same = await resume(on, ['--resume', id, '--fork-session', '--scenario', join(on.path, 'scenario.json')]);
  expect(same.said).toEqual(['b']);
});

test('after kill -9 a resume repeats the unfinished step and no finished one', async () => {
  await using on = await stage();
  const steps = [
    { append: { path: 'log.txt', content: 'finished\n' } },
    { shell: 'echo started >> log.txt; test -e go || sleep 60' },
    { say: 'turn {turns}' },
  ];
  await using agent = on.start([...streamInput, '--session-id', id, '--scenario', await on.scenario(steps)]);
  agent.child.stdin.write(userTurn('Begin'));
  const log = join(on.directory, 'log.txt');
  await waitUntil(() => readFileSync(log, 'utf8').includes('started'), { what: 'the second step to run' });
  const shell = Number(readFileSync(`/proc/${agent.child.pid}/task/${agent.child.pid}/children`, 'utf8').trim());
  agent.child.kill('SIGKILL');
  await agent.exited;
  const sleep = Number(readFileSync(`/proc/${shell}/task/${shell}/children`, 'utf8').trim());
  for (const pid of [shell, sleep]) process.kill(pid, 'SIGKILL');
  writeFileSync(join(on.directory, 'go'), '');
  const resumed = await resume(on, ['--resume', id]);
  expect(resumed.code).toBe(0);
  expect(readFileSync(log, 'utf8')).toBe('finished\nstarted\nstarted\n');
  expect(resumed.said).toEqual(['turn 2']);
});

test('kill -9 at random moments leaves out no step', async () => {
  await using on = await stage();
  const scenario = await on.scenario([
    { repeat: { times: 400, steps: [{ append: { path: 'log', content: '{n}\n' } }] } },
  ]);
  let args = ['--session-id', id, '--scenario', scenario];
  const log = join(on.directory, 'log');
  for (const lines of [20, 150, 300]) {
    await using agent = on.start(args);
    agent.child.stdin.end('Go');
    await waitUntil(() => readFileSync(log, 'utf8').split('\n').length > lines, { what: `${lines} lines` });
    agent.child.kill('SIGKILL');
    await agent.exited;
    args = ['--resume', id];
  }
  expect((await resume(on, args)).code).toBe(0);
  const numbers = readFileSync(log, 'utf8').trim().split('\n').map(Number);
  expect([...new Set(numbers)]).toEqual(Array.from({ length: 400 }, (_, index) => index + 1));
  expect(numbers.length).toBeLessThanOrEqual(403);
});

test('a damaged conversation file is an error, not an empty conversation', async () => {
  await using on = await stage();
  await on.play([{ say: 'a' }], { args: ['--session-id', id] });
  for (const content of ['{"next":', '{"next":-1}', 'null', '']) {
    writeFileSync(join(on.state, `${id}.json`), content);
    const agent = await resume(on, ['--resume', id]);
    expect(agent.code).toBe(1);
    expect(agent.stderr).toContain('is damaged');
  }
});
