import { expect, test } from 'vitest';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../../src/wait-until.ts';
import { stage } from './agent-process.ts';
import type { AgentProcess, Stage } from './agent-process.ts';

async function start(on: Stage, steps: unknown[]): Promise<AgentProcess> {
  const agent = on.start(['--scenario', await on.scenario(steps)]);
  agent.child.stdin.end('Go');
  return agent;
}

/** False for a zombie too: nothing of it runs any more. */
function runs(pid: number): boolean {
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'latin1') : '';
  return stat !== '' && !/\) [ZX] /.test(stat);
}

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('%s ends it with %i and kills the running command with its children', async (signal, code) => {
  await using on = await stage();
  await using agent = await start(on, [{ shell: 'sh -c "echo \\$\\$ > pid; sleep 60; true"; true' }, { say: 'never' }]);
  const pid = await waitUntil(() => Number(readFileSync(join(on.directory, 'pid'), 'utf8').trim()) || null, {
    what: 'the command to run',
  });
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  agent.child.kill(signal);
  expect(await agent.exited).toEqual([code, null]);
  await waitUntil(() => ![pid, Number(children)].some(runs), { what: 'the command and its child to be gone' });
  expect(agent.said).toEqual([]);
  expect(agent.results).toEqual([]);
});

test('a stopped step is repeated by the resumed conversation', async () => {
  await using on = await stage();
  const id = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a14';
  const scenario = await on.scenario([
    { say: 'one' },
    { shell: 'test -e stopped || { touch stopped; sleep 60; }' },
    { say: 'two' },
  ]);
  await using agent = on.start(['--scenario', scenario, '--session-id', id]);
  agent.child.stdin.end('Go');
  await waitUntil(() => existsSync(join(on.directory, 'stopped')), { what: 'the command to run' });
  agent.child.kill('SIGTERM');
  await agent.exited;
  const resumed = on.start(['--resume', id]);
  resumed.child.stdin.end('Go on');
  expect(await resumed.exited).toEqual([0, null]);
  expect(resumed.said).toEqual(['two']);
});

test('it ends on SIGTERM even when nobody reads its output', async () => {
  await using on = await stage();
  await using agent = await start(on, [{ flood: { lines: 1_000_000 } }]);
  agent.child.stdout.removeAllListeners('data');
  agent.child.stdout.pause();
  await waitUntil(() => agent.child.stdout.readableLength > 10_000, { what: 'the flood to begin' });
  const exited = new Promise((resolve) => agent.child.once('exit', (code) => resolve(code)));
  agent.child.kill('SIGTERM');
  expect(await exited).toBe(143);
  agent.child.stdout.resume();
});

test('it ends when the reader of its output goes away', async () => {
  await using on = await stage();
  await using agent = await start(on, [{ say: 'hello' }, { flood: { lines: 1_000_000 } }]);
  await agent.untilSaid('hello');
  agent.child.stdout.destroy();
  expect(await agent.exited).toEqual([141, null]);
  expect(agent.stderr).toBe('');
});

/** Plays one step and waits until it is stored as begun, which `once` does at the start of a hang. */
async function startHang(on: Stage, hang: object): Promise<AgentProcess> {
  const agent = await start(on, [{ hang: { ...hang, once: true } }, { say: 'never' }]);
  const begun = () => readFileSync(join(on.state, `${agent.lines[0]?.session_id}.json`), 'utf8').includes('"next":1');
  await waitUntil(begun, { what: 'the hang to begin' });
  return agent;
}

test('hang outlives the end of stdin and ends on SIGTERM', async () => {
  await using on = await stage();
  await using agent = await startHang(on, {});
  agent.child.kill('SIGTERM');
  expect(await agent.exited).toEqual([143, null]);
});

test('hang with ignore_term ends only by SIGKILL', async () => {
  await using on = await stage();
  await using agent = await startHang(on, { ignore_term: true });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    agent.child.kill(signal);
    await waitUntil(() => agent.stderr.includes(`ignored ${signal}`), { what: `${signal} to be ignored` });
  }
  agent.child.kill('SIGKILL');
  expect(await agent.exited).toEqual([null, 'SIGKILL']);
});

test('hang with once is over for a resumed conversation, and without it is not', async () => {
  await using on = await stage();
  const id = '0b8e7c1a-5a53-4f0e-9d3c-2f6f3b1d7a15';
  const scenario = await on.scenario([{ say: 'ready' }, { hang: { once: true } }, { say: 'over' }, 'hang']);
  await using first = on.start(['--scenario', scenario, '--session-id', id]);
  first.child.stdin.end('Go');
  const next = () => (JSON.parse(readFileSync(join(on.state, `${id}.json`), 'utf8')) as { next: number }).next;
  await waitUntil(() => next() === 2, { what: 'the hang to begin' });
  first.child.kill('SIGKILL');
  await first.exited;
  for (const said of [['over'], []]) {
    await using again = on.start(['--resume', id]);
    again.child.stdin.end('Go on');
    await waitUntil(() => next() === 3, { what: 'the second hang to begin' });
    await waitUntil(() => again.said.length === said.length, { what: 'its words' });
    again.child.kill('SIGTERM');
    await again.exited;
    expect(again.said).toEqual(said);
  }
});
