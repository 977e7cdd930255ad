import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { advanceBranch, checkoutOf, finishAdvance } from '../../src/merge/advance.ts';
import { currentBranch, isContained, planMerge } from '../../src/merge/merge.ts';
import { branchTip } from '../../src/repository/repository.ts';
import { commitWork } from '../../src/worktree/work-tree.ts';
import { worktreeWork } from '../../src/worktree/worktree-work.ts';
import { commitAll, git, refusal, snapshot, write } from '../fixture.ts';
import { errandPlace, plantCommands } from '../merging.ts';

type Place = Awaited<ReturnType<typeof errandPlace>>;

/** Merges the errand's branch into main, as far as git is concerned. */
async function mergeIntoMain({ repository, ownDir }: Place): Promise<boolean> {
  const [tip, onto] = [await branchTip(repository, 'work/otter'), await branchTip(repository, 'main')];
  const plan = await planMerge(repository, { ownDir, tip: tip ?? '', onto: onto ?? '', message: 'Merge it\n' });
  if (plan.do !== 'move') throw new Error(plan.do);
  return advanceBranch(repository, { ownDir, branch: 'main', from: onto ?? '', to: plan.commit, note: 'pawl: merge' });
}

describe('a plan', () => {
  test('nothing, a move to the branch itself, a merge of both, or the files that conflict', async () => {
    const { root, repository, ownDir, base, work } = await errandPlace();
    const plan = (tip: string, onto: string) => planMerge(repository, { ownDir, tip, onto, message: 'Merge\n' });
    expect(await plan(base, base)).toEqual({ do: 'nothing' });
    const tip = work({ 'src/a.ts': 'errand\n' });
    expect(await plan(tip, base)).toEqual({ do: 'move', commit: tip });
    write(root, { 'other.txt': 'x\n' });
    const main = commitAll(root, 'main goes on');
    const merged = await plan(tip, main);
    if (merged.do !== 'move') throw new Error('it does not merge');
    expect(git(root, 'rev-list', '--parents', '-1', merged.commit).trim()).toBe(`${merged.commit} ${main} ${tip}`);
    expect(git(root, 'ls-tree', '-r', '--name-only', merged.commit)).toBe('other.txt\nreadme.md\nsrc/a.ts\n');
    write(root, { 'src/a.ts': 'main\n' });
    const before = snapshot(root, (path) => path.startsWith('.git/objects'));
    expect(await plan(tip, commitAll(root, 'conflict'))).toEqual({ do: 'refuse', files: ['src/a.ts'] });
    expect(Object.keys(snapshot(root)).filter((path) => path.includes('MERGE'))).toEqual([]);
    expect(before['src/a.ts']).toBeDefined();
    expect(await isContained(repository, base, tip)).toBe(true);
    expect(await isContained(repository, tip, base)).toBe(false);
  });
});

describe('a branch moves forward', () => {
  test('with its checkout, if that is clean; untracked files stay', async () => {
    const place = await errandPlace({ 'a.txt': 'a\n', 'gone.txt': 'x\n', 'same.txt': 's\n' });
    place.work({ 'a.txt': 'errand\n', 'new/b.txt': 'b\n' });
    git(place.path, 'rm', '--quiet', 'gone.txt');
    const tip = commitAll(place.path, 'more');
    write(place.root, { 'untracked.txt': 'mine\n' });
    expect(await mergeIntoMain(place)).toBe(true);
    expect(git(place.root, 'rev-parse', 'main').trim()).toBe(tip);
    expect(git(place.root, 'status', '--porcelain')).toBe('?? untracked.txt\n');
    expect(readFileSync(join(place.root, 'a.txt'), 'utf8')).toBe('errand\n');
    expect(readFileSync(join(place.root, 'new/b.txt'), 'utf8')).toBe('b\n');
    expect(git(place.root, 'reflog', '-1', '--format=%gs', 'main')).toBe('pawl: merge\n');
  });

  test('alone, if it is not checked out; and with a linked worktree that has it', async () => {
    const place = await errandPlace();
    const tip = place.work({ 'x.txt': 'x\n' });
    git(place.root, 'switch', '--quiet', '--create', 'elsewhere');
    expect(await checkoutOf(place.repository, 'main')).toBeNull();
    const before = snapshot(place.root, (path) => /^\.git\/(?:logs\/)?refs\/heads\/main|^\.git\/objects/.test(path));
    expect(await mergeIntoMain(place)).toBe(true);
    expect(snapshot(place.root, (path) => /^\.git\/(?:logs\/)?refs\/heads\/main|^\.git\/objects/.test(path))).toEqual(
      before,
    );
    expect(git(place.root, 'rev-parse', 'main').trim()).toBe(tip);
    const linked = join(place.home, 'linked');
    git(place.root, 'worktree', 'add', '--quiet', linked, 'main');
    place.work({ 'y.txt': 'y\n' });
    expect(await checkoutOf(place.repository, 'main')).toBe(linked);
    expect(await mergeIntoMain(place)).toBe(true);
    expect(git(linked, 'status', '--porcelain')).toBe('');
    expect(readFileSync(join(linked, 'y.txt'), 'utf8')).toBe('y\n');
  });

  test('not if it has moved meanwhile', async () => {
    const place = await errandPlace();
    const tip = place.work({ 'x.txt': 'x\n' });
    const moved = commitAll(place.root, 'main goes on');
    const before = snapshot(place.root);
    const advance = { ownDir: place.ownDir, branch: 'main', from: place.base, to: tip, note: 'n' };
    expect(await advanceBranch(place.repository, advance)).toBe(false);
    expect(git(place.root, 'rev-parse', 'main').trim()).toBe(moved);
    expect(snapshot(place.root)).toEqual(before);
  });

  test('a file of which only the time changed is no obstacle', async () => {
    const place = await errandPlace();
    place.work({ 'readme.md': 'errand\n' });
    write(place.root, { 'readme.md': 'hello\n' });
    expect(await mergeIntoMain(place)).toBe(true);
    expect(git(place.root, 'status', '--porcelain')).toBe('');
  });
});

describe('a checkout of the target with an operation in progress stays unchanged, byte for byte', () => {
  const states: [string, (place: Place) => void, RegExp][] = [
    ['changed', ({ root }) => write(root, { 'readme.md': 'mine\n' }), /^conflict: .*uncommitted/],
    [
      'staged',
      ({ root }) => {
        write(root, { 'readme.md': 'mine\n' });
        git(root, 'add', '--all');
      },
      /^conflict: .*uncommitted/,
    ],
    ['an untracked file in the way', ({ root }) => write(root, { 'x.txt': 'mine\n' }), /^conflict: .*in the way/],
    [
      'an ignored file in the way',
      ({ root }) => write(root, { '.git/info/exclude': 'x.txt\n', 'x.txt': 'mine\n' }),
      /^conflict: .*in the way/,
    ],
    [
      'mid-merge',
      ({ root }) => {
        git(root, 'switch', '--quiet', '--create', 'side');
        git(root, 'commit', '--quiet', '--allow-empty', '-m', 'side');
        git(root, 'switch', '--quiet', 'main');
        git(root, 'merge', '--quiet', '--no-ff', '--no-commit', 'side');
      },
      /^conflict: .*merge is in progress/,
    ],
    [
      'mid-rebase',
      ({ root }) => {
        git(root, 'commit', '--quiet', '--allow-empty', '-m', 'to be rebased');
        try {
          git(root, 'rebase', '--quiet', '--exec', 'false', 'HEAD~1');
        } catch {
          // It stops where it is to stop.
        }
      },
      /^conflict: .*rebase/,
    ],
    ['a git at work', ({ root }) => write(root, { '.git/index.lock': '' }), /^conflict: .*running/],
    ['sparse', ({ root }) => write(root, { '.git/info/sparse-checkout': '/*\n' }), /^conflict: .*sparse checkout/],
  ];
  test.each(states)('%s', async (_name, begin, refused) => {
    const place = await errandPlace();
    place.work({ 'x.txt': 'x\n' });
    begin(place);
    const ignore = (path: string) => path.startsWith('.git/objects') || path.startsWith('.git/worktrees');
    const before = snapshot(place.root, ignore);
    expect(await refusal(mergeIntoMain(place))).toMatch(refused);
    expect(snapshot(place.root, ignore)).toEqual(before);
  });
});

test('nothing that a repository names runs; files that need a filter are left to the person [W3-11]', async () => {
  const place = await errandPlace({ '.gitattributes': '*.txt diff=evil merge=evil\n', 'a.txt': '1\n2\n3\n4\n5\n' });
  place.work({ 'a.txt': 'one\n2\n3\n4\n5\n' });
  write(place.root, { 'a.txt': '1\n2\n3\n4\nfive\n' });
  commitAll(place.root, 'main goes on');
  const fired = plantCommands(place.home, place.root);
  expect(await mergeIntoMain(place)).toBe(true);
  expect(readFileSync(join(place.root, 'a.txt'), 'utf8')).toBe('one\n2\n3\n4\nfive\n');
  write(place.path, { '.gitattributes': '*.txt filter=evil\n', 'b.txt': 'b\n' });
  expect(await commitWork(place.repository, { ...place.request, message: 'the rest\n' })).not.toBeNull();
  const before = snapshot(place.root, (path) => path.startsWith('.git/objects'));
  expect(await refusal(mergeIntoMain(place))).toMatch(/^conflict: .*filter: .*b\.txt/);
  expect(snapshot(place.root, (path) => path.startsWith('.git/objects'))).toEqual(before);
  expect(fired()).toEqual([]);
});

describe('uncommitted work', () => {
  test('is committed onto the branch, once; the worktree is clean then', async () => {
    const place = await errandPlace({ 'a.txt': 'a\n', 'gone.txt': 'x\n', '.gitignore': 'ignored\n' });
    write(place.path, { 'a.txt': 'A\n', 'b/c.txt': 'c\n', ignored: 'x' });
    git(place.path, 'rm', '--quiet', 'gone.txt');
    const commit = await commitWork(place.repository, { ...place.request, message: 'All of it\n' });
    expect(git(place.path, 'rev-parse', 'work/otter').trim()).toBe(commit);
    expect(git(place.path, 'status', '--porcelain')).toBe('');
    expect(git(place.path, 'show', '--name-only', '--format=%s', 'HEAD')).toBe(
      'All of it\n\na.txt\nb/c.txt\ngone.txt\n',
    );
    expect(await commitWork(place.repository, { ...place.request, message: 'again\n' })).toBeNull();
    expect(await worktreeWork(place.repository, place.request)).toMatchObject({ state: 'unpushed' });
  });

  test('is refused on another branch, and during an operation', async () => {
    const place = await errandPlace();
    write(place.path, { 'x.txt': 'x\n' });
    const commit = () => commitWork(place.repository, { ...place.request, message: 'm\n' });
    git(place.path, 'switch', '--quiet', '--create', 'another');
    expect(await refusal(commit())).toMatch(/^conflict: /);
    git(place.path, 'switch', '--quiet', 'work/otter');
    write(place.root, { '.git/worktrees/tree/MERGE_HEAD': `${place.base}\n` });
    expect(await refusal(commit())).toMatch(/^conflict: .*merge is in progress/);
    expect(git(place.path, 'rev-parse', 'HEAD').trim()).toBe(place.base);
  });
});

describe('files that a killed daemon left behind the branch', () => {
  test('follow; a second time, or if they already followed, nothing happens', async () => {
    const place = await errandPlace();
    const to = place.work({ 'x.txt': 'x\n', 'readme.md': 'errand\n' });
    git(place.root, 'update-ref', 'refs/heads/main', to, place.base);
    expect(git(place.root, 'status', '--porcelain')).not.toBe('');
    const advance = { ownDir: place.ownDir, branch: 'main', from: place.base, to };
    for (let time = 1; time <= 2; time += 1) {
      expect(await finishAdvance(place.repository, advance)).toBe(true);
      expect(git(place.root, 'status', '--porcelain')).toBe('');
    }
  });

  test('stay if a person has changed them since', async () => {
    const place = await errandPlace();
    const to = place.work({ 'readme.md': 'errand\n' });
    git(place.root, 'update-ref', 'refs/heads/main', to, place.base);
    write(place.root, { 'readme.md': 'mine\n' });
    const advance = { ownDir: place.ownDir, branch: 'main', from: place.base, to };
    expect(await finishAdvance(place.repository, advance)).toBe(false);
    expect(readFileSync(join(place.root, 'readme.md'), 'utf8')).toBe('mine\n');
  });
});

test('the branch of the main work tree is known; none when it is detached', async () => {
  const { repository, root } = await errandPlace();
  expect(await currentBranch(repository)).toBe('main');
  git(root, 'switch', '--quiet', '--detach');
  expect(await currentBranch(repository)).toBeNull();
});
