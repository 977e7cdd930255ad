import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitUntil } from '../../src/wait-until.ts';
import { stage, userTurn } from './agent-process.ts';
import type { Stage } from './agent-process.ts';

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
