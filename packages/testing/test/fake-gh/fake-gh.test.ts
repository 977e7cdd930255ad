import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FakeGithub } from '@pawl/testing/fake-gh/fake-github';
import { createFakeGithub } from '@pawl/testing/fake-gh/fake-github';
import type { FakeState } from '@pawl/testing/fake-gh/state';
import { git } from '@pawl/testing/sample-repository';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const repo = ['--repo', 'github.com/octo/sample'];

async function withServer(work: (server: FakeGithub) => Promise<void>, given: Partial<FakeState> = {}): Promise<void> {
  await using place = await temporaryDirectory();
  await work(await createFakeGithub(place.path, given));
}

/** A pull request of a new branch; gives its number and head. */
async function pullOf(server: FakeGithub, branch: string, files: Record<string, string>, from = 'main') {
  const head = await server.push(branch, files, { from });
  const words = ['pr', 'create', ...repo, '--head', branch, '--title', `About ${branch}`, '--body-file', '-'];
  const { stdout } = server.gh(words, 'why\n');
  return { number: /(\d+)\s*$/.exec(stdout)?.[1] ?? '', head };
}

const mainOf = (server: FakeGithub) => git(server.repository, ['rev-parse', 'refs/heads/main']);

test('unknown gh arguments are errors, with the usage', async () => {
  await withServer(async (server) => {
    expect(server.gh(['pr', 'list', ...repo, '--frob'])).toMatchObject({ exitCode: 1, stdout: '' });
    expect(server.gh(['pr', 'list', ...repo, '--frob']).stderr).toMatch(
      /^unknown flag: --frob\n\nUsage: {2}gh pr list/,
    );
    expect(server.gh(['pr', 'list', ...repo, '--json', 'number,nope']).stderr).toContain('Unknown JSON field: "nope"');
    expect(server.gh(['pr', 'list', ...repo, '--limit', 'x']).stderr).toContain('invalid argument "x"');
    expect(server.gh(['pr', 'frobnicate']).stderr).toContain('unknown command');
    expect(server.gh(['pr', 'view', ...repo]).stderr).toContain('argument required when using the `--repo` flag');
    expect(server.gh(['repo', 'view', ...repo]).stderr).toContain('unknown flag: --repo');
    expect(server.gh(['pr', 'merge', '1', '--squash']).stderr).toContain('not a git repository');
  });
});

test('a missing repository or pull request is reported in the server’s words', async () => {
  await withServer(async (server) => {
    expect(server.gh(['pr', 'view', '9', ...repo, '--json', 'url']).stderr).toBe(
      'GraphQL: Could not resolve to a PullRequest with the number of 9. (repository.pullRequest)\n',
    );
    expect(server.gh(['pr', 'list', '--repo', 'octo/other', '--json', 'url']).stderr).toContain(
      "Could not resolve to a Repository with the name 'octo/other'",
    );
  });
});

test('a branch has one open pull request, with labels that exist and commits that main lacks', async () => {
  await withServer(async (server) => {
    const { number, head } = await pullOf(server, 'work/a', { 'a.txt': 'a\n' });
    const shown = server.gh([
      'pr',
      'view',
      number,
      ...repo,
      '--json',
      'headRefOid,state,isCrossRepository,mergeable,body',
    ]);
    expect(JSON.parse(shown.stdout)).toEqual({
      headRefOid: head,
      state: 'OPEN',
      isCrossRepository: false,
      mergeable: 'MERGEABLE',
      body: 'why\n',
    });
    const create = ['pr', 'create', ...repo, '--title', 't', '--body', 'b'];
    expect(server.gh([...create, '--head', 'work/a']).stderr).toMatch(/already exists:\nhttps:.*\/pull\/1\n$/);
    expect(server.gh([...create, '--head', 'main']).stderr).toContain('No commits between main and main');
    expect(server.gh([...create, '--head', 'nowhere']).stderr).toContain("Head sha can't be blank");
    await server.push('work/b', { 'b.txt': 'b\n' });
    expect(server.gh([...create, '--head', 'work/b', '--label', 'new']).stderr).toBe(
      "could not add label: 'new' not found\n",
    );
  });
});

test('search learns of new pull requests later, a list by branch does not', async () => {
  await withServer(async (server) => {
    await pullOf(server, 'work/a', { 'a.txt': 'a\n' });
    server.on((state) => {
      state.pulls[0]?.labels.push('bug');
      state.unindexed = [1];
    });
    const list = (...filter: string[]) =>
      JSON.parse(server.gh(['pr', 'list', ...repo, ...filter, '--json', 'number']).stdout) as unknown;
    expect(list('--label', 'bug')).toEqual([]);
    expect(list('--author', '@me')).toEqual([]);
    expect(list('--head', 'work/a')).toEqual([{ number: 1 }]);
    server.on((state) => (state.unindexed = []));
    expect(list('--label', 'bug', '--author', '@me')).toEqual([{ number: 1 }]);
    expect(list('--assignee', '@me')).toEqual([]);
  });
});

test('checks belong to a commit, and end gh pr checks with 1', async () => {
  await withServer(async (server) => {
    const { number, head } = await pullOf(server, 'work/a', { 'a.txt': 'a\n' });
    const checks = (...words: string[]) => server.gh(['pr', 'checks', number, ...repo, ...words]);
    expect(checks().stderr).toBe("no checks reported on the 'work/a' branch\n");
    server.check(head, 'test', 'IN_PROGRESS');
    expect(checks()).toMatchObject({ exitCode: 1, stdout: 'test\tpending\t0\n' });
    server.check(head, 'lint', 'FAILURE');
    expect(checks().exitCode).toBe(1);
    expect(checks().stdout).toBe('test\tpending\t0\nlint\tfail\t0\n');
    await server.push('work/a', { 'a.txt': 'b\n' }, { from: 'work/a' });
    expect(checks().stderr).toContain('no checks reported');
  });
});

test('options that gh 2.23, the oldest documented version, lacks are refused', async () => {
  await withServer(async (server) => {
    const { number } = await pullOf(server, 'work/a', { 'a.txt': 'a\n' });
    const refused = (...words: string[]) => {
      const { exitCode, stderr } = server.gh([...words, ...repo]);
      return [exitCode, stderr.split('\n', 1)[0]];
    };
    expect(refused('pr', 'checks', number, '--json', 'name')).toEqual([1, 'unknown flag: --json']);
    expect(refused('pr', 'checks', number, '--fail-fast')).toEqual([1, 'unknown flag: --fail-fast']);
    for (const flag of ['--commit', '--event', '--status', '--created'])
      expect(refused('run', 'list', flag, 'x')).toEqual([1, `unknown flag: ${flag}`]);
    expect(refused('run', 'list', '--json', 'attempt')).toEqual([1, 'Unknown JSON field: "attempt"']);
    expect(refused('pr', 'view', number, '--json', 'autoMergeRequest')).toEqual([
      1,
      'Unknown JSON field: "autoMergeRequest"',
    ]);
    expect(refused('pr', 'create', '--dry-run')).toEqual([1, 'unknown flag: --dry-run']);
    // Documentation and fake name one version.
    expect(readFileSync(join(import.meta.dirname, '../../../../docs/github.md'), 'utf8')).toContain('2.23 or newer');
  });
});

test('a squash is one commit on main; the head must match, and what was merged stays merged', async () => {
  await withServer(async (server) => {
    const { number, head } = await pullOf(server, 'work/a', { 'a.txt': 'a\n' });
    const before = await mainOf(server);
    const merge = (...words: string[]) => server.gh(['pr', 'merge', number, ...repo, ...words]);
    expect(merge().stderr).toContain('--merge, --rebase, or --squash required');
    expect(merge('--squash', '--rebase').stderr).toContain('only one of --merge, --rebase, or --squash');
    expect(merge('--squash', '--match-head-commit', before).stderr).toBe(
      'GraphQL: Head branch was modified. Review and try the merge again. (mergePullRequest)\n',
    );
    expect(await mainOf(server)).toBe(before);
    expect(merge('--squash', '--match-head-commit', head, '--subject', 'A subject', '--body', 'text').exitCode).toBe(0);
    const line = await git(server.repository, ['log', '-1', '--format=%P %s', 'main']);
    expect(line).toBe(`${before} A subject`);
    const after = await mainOf(server);
    expect(merge('--squash', '--match-head-commit', before)).toMatchObject({ exitCode: 0 });
    expect(await mainOf(server)).toBe(after);
    expect(server.gh(['pr', 'close', number, ...repo]).stderr).toContain(
      "can't be closed because it was already merged",
    );
  });
});

test.each(['merge', 'rebase'])('%s brings the commits along', async (method) => {
  await withServer(async (server) => {
    const { number, head } = await pullOf(server, 'work/a', { 'a.txt': 'a\n' });
    await server.push('main', { 'm.txt': 'm\n' });
    const base = await mainOf(server);
    expect(server.gh(['pr', 'merge', number, ...repo, `--${method}`]).stderr).toBe('');
    const parents = (await git(server.repository, ['log', '-1', '--format=%P', 'main'])).split(' ');
    expect(parents).toEqual(method === 'merge' ? [base, head] : [base]);
    expect(await git(server.repository, ['show', 'main:a.txt'])).toBe('a');
  });
});

test('conflicts, drafts, disabled methods and protection are refused', async () => {
  await withServer(async (server) => {
    const { number, head } = await pullOf(server, 'work/a', { 'README.md': 'mine\n' });
    const merge = () => server.gh(['pr', 'merge', number, ...repo, '--squash']).stderr;
    server.on((state) => (state.protection = { checks: ['test'], reviews: 1, upToDate: true }));
    expect(merge()).toContain('is not mergeable: the base branch policy prohibits the merge');
    server.check(head, 'test', 'SUCCESS');
    expect(merge()).toContain('the base branch policy prohibits the merge');
    server.review(1, 'boss', 'APPROVED');
    await server.push('main', { 'm.txt': 'm\n' });
    expect(merge()).toContain('the head branch is not up to date with the base branch');
    server.on((state) => {
      state.protection = null;
      state.methods = ['merge'];
    });
    expect(merge()).toContain('Squash merges are not allowed on this repository');
    server.gh(['pr', 'ready', number, ...repo, '--undo']);
    expect(merge()).toContain('Pull Request is still a draft');
    await server.push('main', { 'README.md': 'theirs\n' });
    expect(merge()).toContain('the merge commit cannot be cleanly created');
    server.on((state) => (state.permission = 'READ'));
    server.gh(['pr', 'ready', number, ...repo]);
  });
});

test('a merge queue of the server takes it, and merges nothing now', async () => {
  await withServer(
    async (server) => {
      const { number } = await pullOf(server, 'work/a', { 'a.txt': 'a\n' });
      expect(server.gh(['pr', 'merge', number, ...repo, '--squash'])).toMatchObject({ exitCode: 0 });
      expect(server.on(({ pulls }) => pulls[0]?.state)).toBe('OPEN');
    },
    { mergeQueue: true },
  );
});

test('errors come on demand, as often as requested', async () => {
  await withServer(async (server) => {
    const list = () => server.gh(['pr', 'list', ...repo, '--json', 'number']);
    server.on((state) => (state.trouble = { kind: 'auth', command: 'pr', times: 1 }));
    expect(list()).toMatchObject({ exitCode: 4 });
    server.on((state) => (state.trouble = { kind: 'rate-limit', command: 'pr list', times: 1 }));
    expect(list()).toMatchObject({ exitCode: 1, stderr: 'GraphQL: API rate limit exceeded for user ID 583231.\n' });
    expect(list()).toMatchObject({ exitCode: 0, stdout: '[]\n' });
  });
});

test('many programs at once: each change is merged once, and every commit of main has one parent', async () => {
  await withServer(async (server) => {
    const names = ['a', 'b', 'c'];
    for (const name of names) await pullOf(server, `work/${name}`, { [`${name}.txt`]: `${name}\n` });
    const program = join(server.bin, 'gh');
    const merges = [1, 2, 3, 1, 2, 3].map((number) =>
      promisify(execFile)(program, ['pr', 'merge', String(number), ...repo, '--squash']),
    );
    await Promise.all(merges);
    const subjects = await git(server.repository, ['log', '--first-parent', '--format=%s', 'main']);
    expect(subjects.split('\n').toSorted()).toEqual(
      ['About work/a (#1)', 'About work/b (#2)', 'About work/c (#3)', 'first commit'].toSorted(),
    );
  });
});
