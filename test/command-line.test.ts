import type { AgentView } from '@pawl/protocol/agents/view';
import { endurance } from '@pawl/testing/endurance';
import { git, sampleRepository } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Workplace } from './support/pawl.ts';
import { workplace } from './support/pawl.ts';

let place: Workplace;
let repository: string;
beforeAll(async () => {
  place = await workplace();
  repository = join(place.path, 'a répo with spaces');
  await sampleRepository(repository);
});
afterAll(async () => {
  await place[Symbol.asyncDispose]();
});

const here = () => ({ cwd: repository });

test('up, init, work, ps, logs -f, inspect: the first five minutes', async () => {
  expect((await place.pawl(['status'])).code).toBe(9);
  expect(await place.json(['up'])).toMatchObject({ started: true });
  expect(await place.json(['up'])).toMatchObject({ started: false });
  const refused = await place.pawl(['work', 'something'], here());
  expect(refused.code).toBe(3);
  expect(refused.stderr).toContain('pawl init');
  expect(await place.json(['init'], here())).toMatchObject({ name: 'a-re-po-with-spaces', created: true });
  expect(await place.json(['init'], here())).toMatchObject({ created: false });
  const agent = await place.json<AgentView>(['work', 'write', 'a', 'note', '--provider', 'scripted'], here());
  const followed = await place.pawl(['logs', '-f', agent.alias]);
  expect(followed.code).toBe(0);
  expect(followed.stdout).toContain('git commit');
  expect(followed.stdout).toContain('turn ended');
  const { agents } = await place.json<{ agents: AgentView[] }>(['ps']);
  expect(agents).toHaveLength(1);
  expect(agents[0]).toMatchObject({
    alias: agent.alias,
    activity: 'idle',
    run: { status: 'completed', task: 'write a note' },
  });
  expect((await place.pawl(['ps'])).stdout).toMatch(new RegExp(`^${agent.alias} +completed +write a note`, 'm'));
  expect(await git(repository, ['rev-list', '--count', `main..work/${agent.alias}`])).toBe('1');
  const inspected = await place.pawl(['inspect', agent.id.slice(0, 6)]);
  expect(inspected.stdout).toContain('1 commits, 0 changed, 0 untracked');
  const raw = await place.pawl(['logs', '--raw', agent.alias]);
  expect(
    raw.stdout
      .split('\n')
      .filter((line) => line !== '')
      .every((line) => line.startsWith('{')),
  ).toBe(true);
  const lines = (await place.pawl(['events', '--json'])).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; data: { seq: number } });
  expect(lines.every((line) => line.kind === 'event')).toBe(true);
  expect(lines.map((line) => line.data.seq)).toEqual(lines.map((_, index) => index + 1));
  expect(await place.json(['status'])).toMatchObject({ up: true, agents: { total: 1, working: 0 } });
  expect((await place.pawl(['doctor'])).code).toBe(0);
});

describe('mistakes', () => {
  test.each([
    [['work'], 2, 'No task given.'],
    [['wrok', 'x'], 2, 'Did you mean work'],
    [['ps', '--nope'], 2, 'unknown option'],
    [['ps', '--limit', 'many'], 2, 'not a whole number'],
    [['logs', 'nobody'], 3, 'pawl ps'],
    [['logs', '../../etc'], 3, 'no agent'],
    [['stop', 'nobody'], 3, 'no agent'],
    [['work', 'x', '--provider', 'nope'], 2, 'Known providers: claude'],
    [['work', 'x', '--provider', 'scripted', '--name', '../up'], 2, 'name'],
    [['work', 'x', '--provider', 'scripted', '--base', 'nowhere'], 3, 'no commit'],
    [['work', ' '], 2, 'empty'],
  ])('pawl %s exits %i and says what to do', async (words, code, hint) => {
    const outcome = await place.pawl(words, here());
    expect(outcome).toMatchObject({ code, stderr: expect.stringContaining(hint) as string });
    expect(outcome.stdout).toBe('');
  });

  test('no repository, no commit yet, a task that is too long', async () => {
    const plain = join(place.path, 'plain');
    mkdirSync(plain);
    expect(await place.pawl(['init'], { cwd: plain })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('git init') as string,
    });
    const unborn = join(place.path, 'unborn');
    await sampleRepository(unborn, { commits: 0 });
    expect(await place.pawl(['init'], { cwd: unborn })).toMatchObject({ code: 0 });
    expect(await place.pawl(['work', 'x', '--provider', 'scripted'], { cwd: unborn })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('first commit') as string,
    });
    expect(await place.pawl(['work', '-'], { ...here(), input: 'x'.repeat(1024 * 1024 + 1) })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('limit') as string,
    });
  });

  test('with --json the error is JSON too, on stderr', async () => {
    const { stderr, stdout } = await place.pawl(['inspect', 'nobody', '--json']);
    expect(stdout).toBe('');
    expect(JSON.parse(stderr)).toMatchObject({ pawl: 1, kind: 'error', error: { code: 'agent_not_found' } });
  });
});

test('agents’ output cannot take over the terminal', async () => {
  const scenario = join(place.path, 'hostile.json');
  writeFileSync(
    scenario,
    JSON.stringify({
      steps: [
        { say: 'a\u001b]52;c;aGk=\u0007b\u001b[2Jc\u202Ed\u009b31me' },
        { garbage: { bytes: 20_000 } },
        'complete',
      ],
    }),
  );
  const agent = await place.json<AgentView>(
    ['work', 'a task with \u001b[31mcolour\u001b[0m', '--provider', 'scripted', '--scenario', scenario],
    here(),
  );
  const followed = await place.pawl(['logs', '-f', agent.alias]);
  const listed = await place.pawl(['ps']);
  for (const text of [followed.stdout, listed.stdout]) {
    // oxlint-disable-next-line no-control-regex -- that none is left is what this asserts
    expect(text).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/);
  }
  expect(followed.stdout).toContain(']52;c;aGk=');
});

const many = endurance({ whole: 50, small: 12 });
test(
  `${many} at the same instant: as many agents, each in its own worktree and branch, none fails`,
  { timeout: 300_000 },
  async () => {
    const before = (await place.json<{ agents: AgentView[] }>(['ps'])).agents.length;
    const scenario = join(place.path, 'quick.json');
    writeFileSync(
      scenario,
      JSON.stringify({ steps: [{ write: { path: 'a.txt', content: '{agent}' } }, { commit: 'a' }, 'complete'] }),
    );
    const outcomes = await Promise.all(
      Array.from({ length: many }, (_, index) =>
        place.pawl(['work', `task ${index}`, '--provider', 'scripted', '--scenario', scenario, '--json'], here()),
      ),
    );
    expect(outcomes.filter((outcome) => outcome.code !== 0)).toEqual([]);
    const agents = await waitUntil(
      async () => {
        const list = (await place.json<{ agents: AgentView[] }>(['ps', '--limit', '200'])).agents;
        return list.every((agent) => agent.run?.status !== 'running') ? list : null;
      },
      { timeoutMs: 90_000, what: 'all agents to end' },
    );
    expect(agents).toHaveLength(before + many);
    expect(agents.filter((agent) => agent.run?.status !== 'completed')).toEqual([]);
    expect(new Set(agents.map((agent) => agent.worktree)).size).toBe(agents.length);
    const branches = (await git(repository, ['for-each-ref', '--format=%(refname:short)', 'refs/heads/work'])).split(
      '\n',
    );
    expect(branches.toSorted()).toEqual(agents.map((agent) => agent.branch ?? '').toSorted());
  },
);

test('down leaves agents running; the next daemon, started on demand, adopts them', async () => {
  const scenario = join(place.path, 'long.json');
  const go = join(place.path, 'go');
  const steps = [
    { say: 'before' },
    { shell: `while [ ! -e '${go}' ]; do sleep 0.05; done` },
    { say: 'after' },
    'complete',
  ];
  writeFileSync(scenario, JSON.stringify({ steps }));
  const agent = await place.json<AgentView>(['work', 'wait', '--provider', 'scripted', '--scenario', scenario], here());
  const said = async () => (await place.pawl(['logs', agent.alias])).stdout;
  await waitUntil(async () => (await said()).includes('before'), { what: 'the first words' });
  expect((await place.pawl(['down'])).code).toBe(0);
  expect((await place.pawl(['down'])).stdout).toContain('was not up');
  const following = place.pawl(['logs', '-f', agent.alias]);
  const story = () => place.pawl(['events', '--agent', agent.alias, '--tail', '1000', '--json']);
  await waitUntil(async () => (await story()).stdout.includes('session.adopted'), { what: 'the agent to be adopted' });
  writeFileSync(go, '');
  expect((await following).stdout).toMatch(/before[^]*after/);
});
