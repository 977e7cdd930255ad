import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readCommits } from '../../src/repository/commit-object.ts';
import { closeChain, isAncestor, mergeStep, treeOf, type MergeRequest } from '../../src/merge/merge-step.ts';
import { openRepository } from '../../src/repository/repository.ts';
import { commitAll, git, recordGit, refusal, snapshot, temporaryDirectory, write } from '../fixture.ts';
import { plantCommands } from '../merging.ts';
import { atMs, gitIn, queuePlace } from '../queueing.ts';

type Place = Omit<Awaited<ReturnType<typeof queuePlace>>, 'branch'>;

function step(place: Place, request: Pick<MergeRequest, 'onto' | 'head'> & Partial<MergeRequest>) {
  const { repository, ownDir } = place;
  return mergeStep(repository, { ownDir, method: 'squash', message: 'Ärger ✓\n\nbody', atMs, ...request });
}

async function merged(place: Place, request: Parameters<typeof step>[1]) {
  const result = await step(place, request);
  if (result.do !== 'merged') throw new Error(JSON.stringify(result));
  return result;
}

/** The files of a commit and their contents. */
function filesOf({ ownDir, root }: Place, commit: string): Record<string, string> {
  const names = gitIn(ownDir, root, 'ls-tree', '-r', '-z', '--name-only', commit).split('\0').slice(0, -1);
  return Object.fromEntries(names.map((name) => [name, gitIn(ownDir, root, 'cat-file', 'blob', `${commit}:${name}`)]));
}

function show({ ownDir, root }: Place, commit: string, format: string): string {
  return gitIn(ownDir, root, 'log', '-1', `--format=${format}`, commit).replace(/\n$/, '');
}

describe('a change goes onto main', () => {
  test('squashed: one commit by its author, with the given message', async () => {
    const place = await queuePlace();
    const head = place.branch(place.main, { 'a.txt': '1x\n2\n3\n4\n5\n' }, { 'c.txt': 'c\n' });
    const onto = place.branch(place.main, { 'a.txt': '1\n2\n3\n4\n5y\n' });
    const before = snapshot(place.root);
    const { commit, tree } = await merged(place, { onto, head });
    expect(filesOf(place, commit)).toEqual({ 'a.txt': '1x\n2\n3\n4\n5y\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
    expect(show(place, commit, '%P|%an <%ae>|%cn <%ce>|%at %ct|%B')).toBe(
      `${onto}|person <person@example.org>|pawl <pawl@localhost>|1700000000 1700000000|Ärger ✓\n\nbody\n`,
    );
    expect(await treeOf(place.repository, place.ownDir, commit)).toBe(tree);
    expect(await isAncestor(place.repository, place.ownDir, onto, commit)).toBe(true);
    expect(await isAncestor(place.repository, place.ownDir, head, commit)).toBe(false);
    expect(snapshot(place.root)).toEqual(before);
  });

  test('squashed: the author is that of its first own commit, not of a later merge or commit', async () => {
    const place = await queuePlace();
    const { root, main } = place;
    const onto = place.branch(main, { 'd.txt': 'd\n' });
    const first = place.branch(main, { 'c.txt': 'c\n' });
    const as = ['-c', 'user.name=other', '-c', 'user.email=other@example.org'];
    git(root, 'checkout', '--quiet', '--detach', first);
    git(root, ...as, 'commit', '--quiet', '--allow-empty', '--author=other <other@example.org>', '-m', 'more');
    git(root, ...as, 'merge', '--quiet', '--no-edit', onto);
    git(root, ...as, 'commit', '--quiet', '--allow-empty', '--amend', '--author=other <o@example.org>', '-m', 'merge');
    const head = git(root, 'rev-parse', 'HEAD').trim();
    expect(git(root, 'log', '-1', '--format=%an').trim()).toBe('other');
    expect(show(place, (await merged(place, { onto, head })).commit, '%an')).toBe('person');
  });

  test('the same request gives the same commit, even from scratch', async () => {
    const place = await queuePlace();
    const head = place.branch(place.main, { 'c.txt': 'c\n' }, { 'd.txt': 'd\n' });
    const onto = place.branch(place.main, { 'e.txt': 'e\n' });
    for (const method of ['squash', 'merge', 'rebase'] as const) {
      const first = await merged(place, { onto, head, method });
      const again = { ...place, ownDir: join(place.home, `other-${method}.git`) };
      expect(await merged(again, { onto, head, method })).toEqual(first);
    }
  });

  test('merged: a commit with both as parents, even if a fast-forward is possible', async () => {
    const place = await queuePlace();
    const head = place.branch(place.main, { 'c.txt': 'c\n' });
    const { commit } = await merged(place, { onto: place.main, head, method: 'merge' });
    expect(show(place, commit, '%P|%an')).toBe(`${place.main} ${head}|pawl`);
    expect(await isAncestor(place.repository, place.ownDir, head, commit)).toBe(true);
  });

  test('rebased: each commit keeps author, time and message; one that follows main stays unchanged', async () => {
    const place = await queuePlace();
    const head = place.branch(place.main, { 'c.txt': 'c\n' }, { 'd.txt': 'd\n' });
    expect(await merged(place, { onto: place.main, head, method: 'rebase' })).toMatchObject({ commit: head });
    const onto = place.branch(place.main, { 'c.txt': 'c\n' }, { 'e.txt': 'e\n' });
    const { commit } = await merged(place, { onto, head, method: 'rebase' });
    // The first of the two is on main already and brings nothing.
    expect(show(place, commit, '%P|%an|%cn|%s')).toBe(`${onto}|person|pawl|step 2: d.txt`);
    expect(show(place, commit, '%ad')).toBe(show(place, head, '%ad'));
    expect(Object.keys(filesOf(place, commit))).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt']);
  });

  test('rebased with a merge inside: skipped if git alone made it, else the change becomes one commit', async () => {
    const place = await queuePlace();
    const { root, main } = place;
    const newer = place.branch(main, { 'a.txt': '1\n2\n3\n4\n5y\n' });
    const onto = place.branch(newer, { 'e.txt': 'e\n' });
    const plain = place.branch(main, { 'c.txt': 'c\n' });
    git(root, 'checkout', '--quiet', plain);
    git(root, 'merge', '--quiet', '--no-edit', newer);
    write(root, { 'd.txt': 'd\n' });
    const clean = await merged(place, { onto, head: commitAll(root, 'after the merge'), method: 'rebase' });
    expect(gitIn(place.ownDir, root, 'log', '--format=%s', `${onto}..${clean.commit}`)).toBe(
      'after the merge\nstep 1: c.txt\n',
    );
    // Here the merge itself settles a conflict.
    git(root, 'checkout', '--quiet', '--detach', place.branch(main, { 'a.txt': '1\n2\n3\n4\n5mine\n' }));
    git(root, 'merge', '--quiet', '--strategy-option=ours', '--no-edit', newer);
    write(root, { 'a.txt': '1\n2\n3\n4\n5both\n' });
    git(root, 'add', '--all');
    git(root, 'commit', '--quiet', '--amend', '--no-edit');
    const settled = await merged(place, { onto, head: git(root, 'rev-parse', 'HEAD').trim(), method: 'rebase' });
    expect(show(place, settled.commit, '%P|%an|%s')).toBe(`${onto}|person|Ärger ✓`);
    expect(filesOf(place, settled.commit)['a.txt']).toBe('1\n2\n3\n4\n5both\n');
  });

  test('a change that undoes its own conflict is merged as a whole', async () => {
    const place = await queuePlace();
    const head = place.branch(place.main, { 'b.txt': 'mine\n' }, { 'b.txt': 'b\n', 'c.txt': 'c\n' });
    const onto = place.branch(place.main, { 'b.txt': 'theirs\n' });
    const { commit } = await merged(place, { onto, head, method: 'rebase' });
    expect(show(place, commit, '%P')).toBe(onto);
    expect(filesOf(place, commit)).toMatchObject({ 'b.txt': 'theirs\n', 'c.txt': 'c\n' });
  });
});

describe.each(['squash', 'merge', 'rebase'] as const)('by %s', (method) => {
  test('a missing change or base is a failure, never "nothing"', async () => {
    const place = await queuePlace();
    const [missing, head] = ['d'.repeat(40), place.branch(place.main, { 'c.txt': 'c\n' })];
    const ontoTree = git(place.root, 'rev-parse', `${place.main}^{tree}`).trim();
    for (const wrong of [
      { onto: place.main, head: missing },
      { onto: missing, head, ontoTree },
    ]) {
      for (const landed of [[], [place.main, 'e'.repeat(40)]]) {
        expect(await refusal(step(place, { ...wrong, method, landed }))).toMatch(/^git_failed: /);
      }
    }
  });

  test('nothing is merged if the change is already in, empty, or duplicated', async () => {
    const place = await queuePlace();
    const { main } = place;
    const head = place.branch(main, { 'c.txt': 'c\n' });
    expect(await step(place, { onto: head, head: main, method })).toEqual({ do: 'nothing' });
    expect(await step(place, { onto: head, head, method })).toEqual({ do: 'nothing' });
    expect(await step(place, { onto: main, head: place.branch(main, {}), method })).toEqual({ do: 'nothing' });
    const twin = place.branch(main, { 'c.txt': 'c\n' }, {});
    expect(await step(place, { onto: twin, head, method })).toEqual({ do: 'nothing' });
  });

  test('a conflict names its files, even odd ones; renames are followed; binary files are not merged', async () => {
    const odd = 'Ä "q" \n\t-.txt';
    const place = await queuePlace({ 'old.txt': '1\n2\n3\n4\n5\n6\n7\n', bin: '\0\u0001', [odd]: 'x\n' });
    const { main, root } = place;
    const head = place.branch(main, { [odd]: 'mine\n', bin: '\0\u0002' });
    const onto = place.branch(main, { [odd]: 'theirs\n', bin: '\0\u0003' });
    expect(await step(place, { onto, head, method })).toEqual({ do: 'conflict', files: [odd, 'bin'].sort() });
    git(root, 'checkout', '--quiet', '--detach', main);
    git(root, 'mv', 'old.txt', 'new.txt');
    const renamed = commitAll(root, 'rename');
    const edited = place.branch(main, { 'old.txt': '1\n2\n3\n4\n5\n6\n7 edited\n' });
    const { commit } = await merged(place, { onto: renamed, head: edited, method });
    expect(filesOf(place, commit)['new.txt']).toBe('1\n2\n3\n4\n5\n6\n7 edited\n');
    expect(filesOf(place, commit)['old.txt']).toBeUndefined();
  });

  test('an unrelated history conflicts, without files', async () => {
    const place = await queuePlace();
    git(place.root, 'checkout', '--quiet', '--orphan', 'strange');
    write(place.root, { 'a.txt': 'strange\n' });
    const head = commitAll(place.root, 'strange');
    expect(await step(place, { onto: place.main, head, method })).toEqual({ do: 'conflict', files: [] });
  });

  test('a stacked branch merges after its base, although both changed the same lines', async () => {
    const place = await queuePlace();
    const { main } = place;
    const first = place.branch(main, { 'a.txt': '1\n2\nfirst\n4\n5\n' }, { 'a.txt': '1\n2\nfirst again\n4\n5\n' });
    const second = place.branch(first, { 'a.txt': '1\n2\nsecond\n4\n5\n' });
    const other = place.branch(main, { 'z.txt': 'z\n' });
    const landed = await merged(place, { onto: other, head: first, method });
    const stacked = { onto: landed.commit, head: second, method };
    if (method !== 'merge') {
      expect(await step(place, stacked)).toEqual({ do: 'conflict', files: ['a.txt'] });
    }
    const { commit } = await merged(place, { ...stacked, landed: ['d'.repeat(40), first, other] });
    expect(filesOf(place, commit)).toEqual({ 'a.txt': '1\n2\nsecond\n4\n5\n', 'b.txt': 'b\n', 'z.txt': 'z\n' });
    const parents = method === 'merge' ? `${landed.commit} ${second}` : landed.commit;
    expect(show(place, commit, '%P')).toBe(parents);
    const before = git(place.root, 'rev-parse', `${first}~1`).trim();
    for (const head of [first, before]) {
      expect(await step(place, { onto: commit, head, method, landed: [first] })).toEqual({ do: 'nothing' });
    }
  });
});

test('works for sha256 ids', async () => {
  const home = temporaryDirectory();
  const root = join(home, 'project');
  write(root, { 'a.txt': 'a\n' });
  git(root, 'init', '--quiet', '--initial-branch=main', '--object-format=sha256');
  const main = commitAll(root, 'first');
  const place = { home, root, main, ownDir: join(home, 'own.git'), repository: await openRepository(root) };
  write(root, { 'b.txt': 'b\n' });
  const onto = commitAll(root, 'b');
  git(root, 'checkout', '--quiet', '--detach', main);
  write(root, { 'c.txt': 'c\n' });
  const head = commitAll(root, 'c');
  for (const method of ['squash', 'merge', 'rebase'] as const) {
    const { commit } = await merged(place, { onto, head, method });
    expect(commit).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(filesOf(place, commit))).toEqual(['a.txt', 'b.txt', 'c.txt']);
  }
});

describe('a chain', () => {
  test('costs at most two commands per change if the chain before it is known', async () => {
    const place = await queuePlace();
    const { repository, ownDir, main } = place;
    const heads = ['c', 'd', 'e'].map((name) => place.branch(main, { [`${name}.txt`]: `${name}\n` }));
    await step(place, { onto: main, head: main });
    let onto = { commit: main, tree: await treeOf(repository, ownDir, main) };
    const authors = await readCommits(repository, ownDir, [...heads, 'd'.repeat(40), main]);
    expect([...authors.keys()]).toEqual([...heads, main]);
    const commands = recordGit();
    for (const [at, head] of heads.entries()) {
      const known = authors.get(head);
      if (known === undefined) throw new Error('it was not read');
      const request = { onto: onto.commit, ontoTree: onto.tree, head, landed: heads.slice(0, at) };
      onto = await merged(place, { ...request, readHead: async () => known });
    }
    // The first change has no landed heads below it, so its range is read without git.
    expect(commands()).toHaveLength(5);
    expect(Object.keys(filesOf(place, onto.commit))).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt']);
    expect(show(place, onto.commit, '%an')).toBe('person');
  });

  test('of one commit ends in itself; of several in one commit with main as its first parent', async () => {
    const place = await queuePlace();
    const { repository, ownDir, main } = place;
    const close = (tip: string) => closeChain(repository, { ownDir, main, tip, message: 'Two changes\n', atMs });
    const [a, b] = [place.branch(main, { 'c.txt': 'c\n' }), place.branch(main, { 'd.txt': 'd\n' })];
    expect(await close(main)).toBe(main);
    for (const method of ['squash', 'merge'] as const) {
      const first = await merged(place, { onto: main, head: a, method });
      expect(await close(first.commit)).toBe(first.commit);
      const second = await merged(place, { onto: first.commit, head: b, method });
      const closed = await close(second.commit);
      expect(show(place, closed, '%P|%T|%s')).toBe(`${main} ${second.commit}|${second.tree}|Two changes`);
      expect(await close(second.commit)).toBe(closed);
    }
    await expect(closeChain(repository, { ownDir, main: a, tip: b, message: 'x', atMs })).rejects.toThrow(/descend/);
  });
});

/** What a git command that fails says. */
function complaints(run: () => string): string {
  try {
    return run();
  } catch (error) {
    return String(error);
  }
}

describe('hostile commits', () => {
  test('no driver, filter or hook runs, neither from the config nor by attributes in the commits', async () => {
    const place = await queuePlace({ '.gitattributes': '* merge=evil diff=evil filter=evil\n', 'a.txt': '1\n2\n3\n' });
    const { main, root, home } = place;
    const head = place.branch(main, { 'a.txt': '1x\n2\n3\n', '.gitattributes': '* merge=evil filter=evil text\n' });
    const onto = place.branch(main, { 'a.txt': '1\n2\n3y\n' });
    const clash = place.branch(main, { 'a.txt': '1z\n2\n3\n' });
    const fired = plantCommands(home, root);
    appendFileSync(join(root, '.git/info/attributes'), '* merge=evil\n');
    for (const method of ['squash', 'merge', 'rebase'] as const) {
      const { commit } = await merged(place, { onto, head, method });
      expect((await step(place, { onto: commit, head: clash, method })).do).toBe('conflict');
    }
    expect(fired()).toEqual([]);
  });

  test('an author that git would refuse becomes Pawl; one in another encoding stays byte for byte', async () => {
    const place = await queuePlace();
    const { root, main } = place;
    const plain = place.branch(main, { 'c.txt': 'c\n' });
    const tree = git(root, 'rev-parse', `${plain}^{tree}`).trim();
    const forge = (author: string, more = '') => {
      const text = `tree ${tree}\nparent ${main}\nauthor ${author}\ncommitter x <x> 1 +0000\n${more}\nsubj\u00e9ct\n`;
      const path = join(place.home, 'commit');
      writeFileSync(path, text, 'latin1');
      return git(root, 'hash-object', '-t', 'commit', '-w', '--literally', path).trim();
    };
    const onto = place.branch(main, { 'e.txt': 'e\n' });
    const latin = forge('Ren\u00e9 <rene@example.org> 1234567890 +0130', 'encoding ISO-8859-1\ngpgsig x\n y\n');
    const replayed = await merged(place, { onto, head: latin, method: 'rebase' });
    expect(show(place, replayed.commit, '%an|%at|%s')).toBe('René|1234567890|subjéct');
    expect(gitIn(place.ownDir, root, 'cat-file', 'commit', replayed.commit)).not.toContain('gpgsig');
    const made = [replayed.commit];
    for (const author of ['<> 1 +0000', 'a\u0001', ' <x@y> 99999999999999999999 +0', '']) {
      const squashed = await merged(place, { onto, head: forge(author) });
      expect(show(place, squashed.commit, '%an <%ae> %at')).toBe('pawl <pawl@localhost> 1700000000');
      made.push(squashed.commit);
    }
    const found = complaints(() => gitIn(place.ownDir, root, 'fsck', '--strict'));
    expect(found).toContain('missingNameBeforeEmail');
    for (const commit of made) expect(found).not.toContain(commit);
  });

  test('an incomplete id is refused before git sees it', async () => {
    const place = await queuePlace();
    for (const head of ['main', '--output=x', `${place.main}~1`, '']) {
      expect(await refusal(step(place, { onto: place.main, head }))).toMatch(/^invalid_input: /);
    }
  });
});
