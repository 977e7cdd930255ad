import { describe, expect, test } from 'vitest';
import { parseDuration, prune } from '../../../src/command/agents/prune.ts';
import { listWorktrees, restoreWorktree } from '../../../src/command/agents/worktree.ts';
import { idOf } from '@pawl/testing/agent-view';
import { fakeDaemon, sendJson } from '../fake-daemon.ts';

test('worktree ls', async () => {
  const worktrees = [
    {
      state: 'retained',
      path: '/home/w/a',
      project: 'shop',
      agent: { id: idOf(1), alias: 'a' },
      branch: 'work/a',
      detail: 'has uncommitted work',
      entry: null,
      at: 1,
    },
    { state: 'orphan', path: '/home/w/b', project: null, agent: null, branch: null, detail: '', entry: null, at: null },
  ];
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { worktrees }), { json: false });
  expect(await listWorktrees({ ...daemon.context, columns: 140 })).toBe(0);
  expect(daemon.texts[0]?.split('\n').map((line) => line.replaceAll(/ {2,}/g, '  '))).toEqual([
    'STATE  AGENT  PROJECT  BRANCH  ENTRY  DETAIL  PATH',
    'retained  a  shop  work/a  -  has uncommitted work  /home/w/a',
    'orphan  -  -  -  -  /home/w/b',
  ]);
});

test('worktree ls without any', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { worktrees: [] }), { json: false });
  await listWorktrees(daemon.context);
  expect(daemon.texts).toEqual(['no worktrees']);
});

test('worktree restore', async () => {
  await using daemon = await fakeDaemon(({ response }) => sendJson(response, { path: '/home/w/a' }), { json: false });
  expect(await restoreWorktree(daemon.context, 'a b')).toBe(0);
  expect(daemon.requests).toEqual(['POST /api/worktrees/a%20b/restore']);
  expect(daemon.texts).toEqual(['restored to /home/w/a']);
});

describe('worktree prune', () => {
  const dayMs = 86_400_000;
  const kept = [{ entry: 'c', reason: 'uncommitted work; --force archives it' }];
  const plan = { pruned: ['a', 'b'], kept, trashed: [] as string[] };
  const fakePrune = (answer = plan, json = false) => fakeDaemon(({ response }) => sendJson(response, answer), { json });
  const nobody = { present: false, ask: () => Promise.reject(new Error('nobody is asked')) };
  const person = (...words: string[]) => {
    const questions: string[] = [];
    const ask = async (question: string) => (questions.push(question), words.shift() ?? '');
    return { questions, present: true, ask };
  };

  test('without a terminal it is refused, and --yes is named', async () => {
    await using daemon = await fakePrune();
    await expect(prune(daemon.context, { olderThan: '14d' }, nobody)).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('--yes') as string,
    });
    expect(daemon.requests).toEqual([]);
  });

  test('with --json or --quiet it does not ask either', async () => {
    await using daemon = await fakePrune(plan, true);
    await expect(prune(daemon.context, { olderThan: '0' }, person('y'))).rejects.toMatchObject({ code: 'usage' });
    const quiet = { ...daemon.context, json: false, quiet: true };
    await expect(prune(quiet, { olderThan: '0' }, person('y'))).rejects.toMatchObject({ code: 'usage' });
    expect(daemon.requests).toEqual([]);
  });

  test('--yes deletes at once', async () => {
    await using daemon = await fakePrune();
    expect(await prune(daemon.context, { olderThan: '14d', yes: true, force: true }, nobody)).toBe(0);
    expect(daemon.bodies).toEqual([{ olderThanMs: 14 * dayMs, force: true }]);
    expect(daemon.texts[0]).toBe(
      'deleted 2 worktrees for good:\n  a\n  b\nkept:\n  c  uncommitted work; --force archives it',
    );
  });

  test('--dry-run deletes nothing, whatever else was given', async () => {
    await using daemon = await fakePrune({ ...plan, trashed: ['/w/d'] });
    await prune(daemon.context, { olderThan: '0', yes: true, dryRun: true }, nobody);
    expect(daemon.bodies).toEqual([{ olderThanMs: 0, dryRun: true }]);
    expect(daemon.texts[0]).toContain('would delete 2 worktrees for good:');
    expect(daemon.texts[0]).toContain('would move to the trash, for nothing in them would be lost:\n  /w/d');
  });

  test.each([['y'], ['Yes'], [' yes ']])('a person who has seen the plan and says %j has it done', async (word) => {
    await using daemon = await fakePrune();
    const asked = person(word);
    expect(await prune(daemon.context, { olderThan: '14d' }, asked)).toBe(0);
    expect(asked.questions).toHaveLength(1);
    expect(daemon.bodies[0]).toEqual({ olderThanMs: 14 * dayMs, dryRun: true });
    // Nothing goes that was not in the plan: what became old enough meanwhile stays.
    const { olderThanMs, ...rest } = daemon.bodies[1] as { olderThanMs: number };
    expect(olderThanMs).toBeGreaterThan(14 * dayMs);
    expect(olderThanMs).toBeLessThan(14 * dayMs + 60_000);
    expect(rest).toEqual({});
    expect(daemon.texts.map((text) => text.split(' ')[0])).toEqual(['would', 'deleted']);
  });

  test.each([[''], ['n'], ['no'], ['yep'], ['yn']])('a person who says %j has nothing deleted', async (word) => {
    await using daemon = await fakePrune();
    expect(await prune(daemon.context, { olderThan: '14d' }, person(word))).toBe(0);
    expect(daemon.bodies).toEqual([{ olderThanMs: 14 * dayMs, dryRun: true }]);
    expect(daemon.said).toEqual(['nothing was deleted']);
  });

  test('without anything to delete it does not ask', async () => {
    await using daemon = await fakePrune({ pruned: [], kept: [], trashed: [] });
    const asked = person('y');
    await prune(daemon.context, { olderThan: '14d' }, asked);
    expect(asked.questions).toEqual([]);
    expect(daemon.texts).toEqual(['would delete nothing']);
  });

  test.each([
    ['0', 0],
    ['30m', 1_800_000],
    ['12h', 43_200_000],
    ['14d', 14 * dayMs],
    ['0d', 0],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([[''], ['14'], ['d'], ['-1d'], ['1.5h'], ['14 d'], ['1w'], ['00'], ['9999999d'], ['1d\n']])(
    '%j is not a duration',
    (text) => {
      expect(() => parseDuration(text)).toThrow(expect.objectContaining({ code: 'usage' }));
    },
  );
});
