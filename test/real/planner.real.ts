import type { PlanDetail } from '@pawl/protocol/plan/plan-view';
import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { realClis } from './clis.ts';
import { storyIds } from './planner-scenarios.ts';
import type { RealWorkshop } from './workshop.ts';
import { openWorkshop } from './workshop.ts';

const run = promisify(execFile);
const storyMs = 900_000;

let shop: RealWorkshop;
beforeAll(async () => {
  const cli = realClis['claude'];
  if (cli === undefined) throw new Error('there is no claude');
  shop = await openWorkshop('claude', cli, (server) => {
    const shell = cli.shell(server);
    if (typeof shell === 'string') throw new Error(shell);
    return { ...shell, environment: { ...shell.environment, ...cli.environment } };
  });
  const { repository } = shop;
  await mkdir(join(repository, '.pawl'), { recursive: true });
  await writeFile(join(repository, 'check.sh'), '#!/bin/sh\n! grep -q bad ./*.txt 2>/dev/null\n');
  await writeFile(
    join(repository, '.pawl', 'config.yaml'),
    'checks:\n  - name: check\n    run: "sh check.sh"\nfixer: false\nqueue: {auto: true}\n',
  );
  await run('git', ['add', '-A'], { cwd: repository });
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.invalid'];
  await run('git', [...identity, 'commit', '-q', '-m', 'chore: add checks'], { cwd: repository });
}, storyMs);
afterAll(() => shop.close(), storyMs);

/** The data that a command prints with --json. */
async function say<Data>(...words: string[]): Promise<Data> {
  return (JSON.parse(await shop.pawl([...words, '--json'])) as { data: Data }).data;
}

/** Lets an architect work, and accepts its proposal. */
async function architect(verb: string, plan: string, ...message: string[]): Promise<void> {
  const { id } = await say<{ id: string }>('plan', verb, plan, ...message, '-p', 'claude');
  const agent = await shop.ended(id);
  if (agent.run?.questions) {
    await shop.pawl(['reply', id, 'English']);
    await waitUntil(async () => (await shop.ended(id)).run?.questions === null, { what: 'the answer to be used' });
  }
  const { proposals } = await say<{ proposals: { id: string; state: string; complaints: string[] }[] }>(
    'proposal',
    'ls',
  );
  expect(proposals).toMatchObject([{ state: 'open', complaints: [] }]);
  await shop.pawl(['proposal', 'accept', proposals[0]?.id ?? '']);
}

/** Waits until a plan has a state. */
async function becomes(plan: string, state: string): Promise<PlanDetail> {
  return waitUntil(
    async () => {
      const detail = await say<PlanDetail>('plan', 'show', plan);
      if (detail.plan.state === state) return detail;
      throw new Error(
        `${detail.plan.state}: ${detail.tasks.map((task) => `${task.name} ${task.state} ${task.detail}`).join('; ')}`,
      );
    },
    { timeoutMs: storyMs / 3, what: `the plan to be ${state}` },
  );
}

test(
  'from a wish to landed work, with claude as architect and worker',
  async () => {
    const { plan } = await say<PlanDetail>('plan', 'new', 'greet people, and say goodbye');
    await architect('discuss', plan.id, '[[session:plan-discuss]] Decide.');
    await architect('draft', plan.id, '[[scenario:plan-draft]] Divide it.');
    await architect('detail', plan.id, 'greeting', '[[scenario:plan-detail-one]] Detail it.');
    await architect('detail', plan.id, 'farewell', '[[scenario:plan-detail-two]] Detail it.');
    const stage = await say<{ hash: string; errors: string[]; waves: string[][] }>('plan', 'stage', plan.id);
    expect(stage).toMatchObject({ errors: [], waves: [[storyIds.first], [storyIds.second]] });
    await shop.pawl(['plan', 'approve', plan.id, '--hash', stage.hash, '--accept-warnings']);
    await shop.pawl(['plan', 'launch', plan.id, '-p', 'claude']);

    const waiting = await becomes(plan.id, 'in_review');
    expect(waiting.decisions).toMatchObject([{ topic: 'language', decision: 'English' }]);
    await shop.pawl([
      'plan',
      'review',
      plan.id,
      '--comment',
      'a letter is missing',
      '--file',
      'hello.txt',
      '--line',
      '1',
    ]);
    await shop.pawl(['plan', 'changes', plan.id, 'Correct it. [[scenario:plan-revise]]']);
    const revised = await waitUntil(
      async () => {
        const { tasks } = await becomes(plan.id, 'in_review');
        return tasks.length === 3 && tasks.filter(({ state }) => state === 'completed').length === 2;
      },
      { timeoutMs: storyMs / 3, what: 'the revision to land' },
    );
    expect(revised).toBe(true);
    const review = await say<{ hash: string; threads: { answer: string; isOutdated: boolean }[] }>(
      'plan',
      'review',
      plan.id,
    );
    expect(review.threads).toMatchObject([
      { answer: 'it is spelled right now', isOutdated: true },
      { answer: 'it is spelled right now', isOutdated: false },
    ]);
    await shop.pawl(['plan', 'review', plan.id, '--approve', '--hash', review.hash]);
    await waitUntil(async () => (await say<PlanDetail>('plan', 'show', plan.id)).phases[1]?.state === 'in_review', {
      timeoutMs: storyMs / 3,

      what: 'the second phase to wait for its review',
    });
    await shop.pawl(['plan', 'review', plan.id, '--approve']);
    const done = await becomes(plan.id, 'completed');
    expect(done.tasks.map(({ state }) => state)).toEqual(['completed', 'completed', 'completed']);
    expect(await git(shop.repository, ['show', 'main:hello.txt'])).toBe('hello');
    expect(await git(shop.repository, ['show', 'main:bye.txt'])).toBe('bye');
    await eachCommitPasses();
  },
  storyMs,
);

/** Runs the check on every commit of main since the checks exist. */
async function eachCommitPasses(): Promise<void> {
  const listed = await git(shop.repository, ['log', '--first-parent', '--format=%H', 'main', '--', '.']);
  const commits = listed.split('\n');
  expect(commits.length).toBeGreaterThanOrEqual(4);
  const place = await mkdtemp(join(tmpdir(), 'pawl-story-'));
  try {
    for (const commit of commits.slice(0, -1)) {
      const tree = join(place, commit);
      await run('git', ['worktree', 'add', '-q', '--detach', tree, commit], { cwd: shop.repository });
      await run('sh', ['check.sh'], { cwd: tree });
    }
  } finally {
    await rm(place, { recursive: true, force: true });
    await run('git', ['worktree', 'prune'], { cwd: shop.repository });
  }
}
