import { appendFileSync, chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mergeStep } from '../../src/merge/merge-step.ts';
import { exportCommits, hasCommit } from '../../src/merge/queue-objects.ts';
import { defaultBranch, fetchBranch, pushCommit, remoteUrl, trackRemote } from '../../src/repository/remote.ts';
import { openRepository } from '../../src/repository/repository.ts';
import { commitAll, git, makeRepository, refusal, snapshot, temporaryDirectory, write } from '../fixture.ts';
import { plantCommands } from '../merging.ts';
import { atMs, grow } from '../queueing.ts';

/** A bare origin, a clone that Pawl looks after, and one of somebody else. */
async function remotePlace() {
  const home = temporaryDirectory();
  const source = makeRepository(join(home, 'source'));
  const origin = join(home, 'origin.git');
  git(home, 'clone', '--quiet', '--bare', source, origin);
  const [root, other] = [join(home, 'project'), join(home, 'other')];
  for (const clone of [root, other]) git(home, 'clone', '--quiet', origin, clone);
  const repository = await openRepository(root);
  const main = git(root, 'rev-parse', 'HEAD').trim();
  const ownDir = join(home, 'own.git');
  const remote = { ownDir, url: origin, branch: 'main' };
  const heads = new Map<string, string>();
  /** A change that adds one file. */
  const headOf = (name: string): string => {
    const head = heads.get(name) ?? grow(root, main, [{ [name]: `${name}\n` }]);
    heads.set(name, head);
    return head;
  };
  return {
    home,
    origin,
    root,
    other,
    repository,
    main,
    ownDir,
    remote,
    headOf,
    /** Somebody else commits and pushes. */
    pushed(name: string): string {
      write(other, { [name]: `${name}\n` });
      const commit = commitAll(other, name);
      git(other, 'push', '--quiet', 'origin', 'HEAD:main');
      return commit;
    },
    /** A commit that only the queue has. */
    async made(onto: string, name: string): Promise<string> {
      const request = { ownDir, onto, head: headOf(name), method: 'squash' as const, message: name, atMs };
      const step = await mergeStep(repository, request);
      if (step.do !== 'merged') throw new Error(step.do);
      return step.commit;
    },
    at: (ref = 'refs/heads/main') => git(origin, 'rev-parse', ref).trim(),
  };
}

/** Lets the person's own config be this one. */
function withHome(home: string, config: string): void {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, '.gitconfig'), config);
  const before = process.env['HOME'];
  process.env['HOME'] = home;
  onTestFinished(() => void (process.env['HOME'] = before));
}

describe('the address of a remote', () => {
  test('is read from the config, by its name', async () => {
    const { root, repository, origin } = await remotePlace();
    expect(await remoteUrl(repository, 'origin')).toBe(origin);
    expect(await remoteUrl(repository, 'upstream')).toBeNull();
    git(root, 'config', 'remote.near.url', '../origin.git');
    expect(await remoteUrl(repository, 'near')).toBe(origin);
    for (const url of ['git@example.org:a/b.git', 'ssh://git@example.org/a', 'https://example.org/a', 'host:path']) {
      git(root, 'config', 'remote.far.url', url);
      expect(await remoteUrl(repository, 'far')).toBe(url);
    }
    expect(await refusal(remoteUrl(repository, 'a b'))).toMatch(/^invalid_input: /);
  });

  test('that names a program, or looks like an option, is refused', async () => {
    const { root, repository, remote, main } = await remotePlace();
    for (const url of [
      'ext::sh -c evil',
      'fd::17',
      'foo::https://example.org',
      '-oProxyCommand=evil',
      'ssh://-oProxyCommand=evil/x',
      'ssh://git@-oProxyCommand=evil/x',
      '-host:path',
      'git@-host:path',
      'ftp://example.org/x',
      'https://example.org/\nx',
    ]) {
      git(root, 'config', 'remote.evil.url', url);
      expect(await refusal(remoteUrl(repository, 'evil'))).toMatch(/^invalid_input: /);
      expect(await refusal(fetchBranch(repository, { ...remote, url }))).toMatch(/^invalid_input: /);
      const push = pushCommit(repository, { ...remote, url, from: null, to: main });
      expect(await refusal(push)).toMatch(/^invalid_input: /);
    }
  });
});

describe('fetching', () => {
  test("brings others' pushes into the queue, and nothing into the repository", async () => {
    const { root, repository, main, ownDir, remote, pushed, home } = await remotePlace();
    const before = snapshot(root);
    expect(await fetchBranch(repository, remote)).toBe(main);
    for (const name of ['one', 'two']) {
      const commit = pushed(name);
      expect(await hasCommit(repository, ownDir, commit)).toBe(false);
      expect(await fetchBranch(repository, remote)).toBe(commit);
      expect(await hasCommit(repository, ownDir, commit)).toBe(true);
    }
    // The history that the user has is not fetched again.
    expect(() => git(home, `--git-dir=${ownDir}`, 'cat-file', '-e', main)).toThrow();
    expect(snapshot(root)).toEqual(before);
    expect(await fetchBranch(repository, { ...remote, branch: 'none' })).toBeNull();
    expect(await fetchBranch(repository, { ...remote, branch: 'ain' })).toBeNull();
  });

  test('follows a remote that was moved back, and handles names that are prefixes of each other', async () => {
    const { origin, repository, main, remote, pushed } = await remotePlace();
    const later = pushed('later');
    expect(await fetchBranch(repository, remote)).toBe(later);
    git(origin, 'update-ref', 'refs/heads/main', main);
    expect(await fetchBranch(repository, remote)).toBe(main);
    git(origin, 'update-ref', 'refs/heads/a', main);
    expect(await fetchBranch(repository, { ...remote, branch: 'a' })).toBe(main);
    git(origin, 'update-ref', '-d', 'refs/heads/a');
    git(origin, 'update-ref', 'refs/heads/a/b', pushed('again'));
    expect(await fetchBranch(repository, { ...remote, branch: 'a/b' })).not.toBe(main);
  });

  test('reports an unreachable remote, without the password in its URL', async () => {
    const { home, repository, remote } = await remotePlace();
    const gone = refusal(fetchBranch(repository, { ...remote, url: join(home, 'gone.git') }));
    expect(await gone).toMatch(/^unavailable: .*gone\.git cannot be reached: .*ls-remote/);
    const secret = 'http://me:sesame@127.0.0.1:1/x.git';
    const refused = await refusal(fetchBranch(repository, { ...remote, url: secret }));
    expect(refused).toMatch(/^unavailable: http:\/\/127\.0\.0\.1:1\/x\.git cannot be reached/);
    expect(refused).not.toContain('sesame');
  });
});

describe('pushing', () => {
  test('moves the branch to a commit of the queue; a repetition changes nothing', async () => {
    const { origin, repository, main, remote, made, at } = await remotePlace();
    const to = await made(main, 'x.txt');
    expect(await pushCommit(repository, { ...remote, from: main, to })).toBe('moved');
    expect(at()).toBe(to);
    expect(await pushCommit(repository, { ...remote, from: main, to })).toBe('moved');
    expect(git(origin, 'fsck', '--no-progress')).toBe('');
    expect(await pushCommit(repository, { ...remote, branch: 'new/one', from: null, to })).toBe('moved');
    expect(at('refs/heads/new/one')).toBe(to);
  });

  test('never overwrites a concurrent push', async () => {
    const { repository, main, remote, made, pushed, at } = await remotePlace();
    const to = await made(main, 'x.txt');
    const theirs = pushed('theirs');
    expect(await pushCommit(repository, { ...remote, from: main, to })).toBe('behind');
    expect(await pushCommit(repository, { ...remote, from: null, to })).toBe('behind');
    expect(at()).toBe(theirs);
    expect(await fetchBranch(repository, remote)).toBe(theirs);
    // What does not contain the remote's commit is not even tried.
    expect(await refusal(pushCommit(repository, { ...remote, from: theirs, to }))).toMatch(/^conflict: /);
    const next = await made(theirs, 'x.txt');
    expect(await pushCommit(repository, { ...remote, from: theirs, to: next })).toBe('moved');
    expect(at()).toBe(next);
  });

  test('not even one during our own', async () => {
    const { origin, other, repository, main, remote, made, at } = await remotePlace();
    const to = await made(main, 'x.txt');
    write(other, { theirs: 'theirs\n' });
    const theirs = commitAll(other, 'theirs');
    git(other, 'push', '--quiet', 'origin', `${theirs}:refs/heads/side`);
    // The hook runs after our push was accepted and before its ref is written.
    const hook = `#!/bin/sh\nunset GIT_QUARANTINE_PATH\nexec git update-ref refs/heads/main ${theirs}\n`;
    mkdirSync(join(origin, 'hooks'), { recursive: true });
    writeFileSync(join(origin, 'hooks/pre-receive'), hook, { mode: 0o755 });
    expect(await pushCommit(repository, { ...remote, from: main, to })).toBe('behind');
    expect(at()).toBe(theirs);
  });

  test("reports a rejection in the remote's words; does not recreate a deleted branch", async () => {
    const { origin, repository, main, remote, made, at } = await remotePlace();
    const to = await made(main, 'x.txt');
    mkdirSync(join(origin, 'hooks'), { recursive: true });
    writeFileSync(join(origin, 'hooks/update'), '#!/bin/sh\necho "only on \u001b[31mFridays" >&2\nexit 1\n', {
      mode: 0o755,
    });
    const said = await refusal(pushCommit(repository, { ...remote, from: main, to }));
    expect(said).toMatch(/^forbidden: .*rejects a push to main: .*only on .*Fridays.* → Its hooks/);
    expect(said).not.toContain('\u001b');
    expect(at()).toBe(main);
    git(origin, 'update-ref', '-d', 'refs/heads/main');
    expect(await pushCommit(repository, { ...remote, from: main, to })).toBe('behind');
    expect(git(origin, 'for-each-ref')).toBe('');
  });
});

test("uses the person's own config, not the repository's", async () => {
  const { home, root, repository, main, remote, made, origin, at, pushed, headOf } = await remotePlace();
  for (const name of ['x.txt', 'y.txt']) headOf(name);
  const fired = plantCommands(home, root);
  const script = join(home, 'run');
  appendFileSync(
    join(root, '.git/config'),
    `[core]\n\tsshCommand = ${script} ssh\n\taskPass = ${script} askPass\n\tgitProxy = ${script} gitProxy\n` +
      `[credential]\n\thelper = !${script} credential\n[url "ext::${script} insteadOf "]\n\tinsteadOf = ${origin}\n` +
      `[protocol]\n\tallow = always\n[push]\n\tgpgSign = true\n[remote "origin"]\n\tuploadpack = ${script} uploadpack\n` +
      `\treceivepack = ${script} receivepack\n\tvcs = evil\n\tpushurl = ext::${script} pushurl\n`,
  );
  const hook = join(home, 'hooks/pre-push');
  writeFileSync(hook, `#!/bin/sh\nexec ${script} pre-push\n`);
  chmodSync(hook, 0o755);
  expect(await remoteUrl(repository, 'origin')).toBe(origin);
  pushed('other');
  const tip = await fetchBranch(repository, remote);
  const to = await made(tip ?? main, 'x.txt');
  expect(await pushCommit(repository, { ...remote, from: tip, to })).toBe('moved');
  await exportCommits(repository, remote.ownDir, { tip: to, not: [main] });
  await trackRemote(repository, { remote: 'origin', branch: 'main', commit: to });
  expect(fired()).toEqual([]);
  // The person has a way of their own to a host; hooks of theirs are not for us.
  const ssh = join(home, 'ssh');
  writeFileSync(
    ssh,
    `#!/bin/sh\n: >'${home}/markers/own-ssh'\nfor last; do :; done\nHOME=/nonexistent exec sh -c "$last"\n`,
    {
      mode: 0o755,
    },
  );
  withHome(join(home, 'person'), `[core]\n\tsshCommand = ${ssh}\n\thooksPath = ${join(home, 'hooks')}\n`);
  const far = { ...remote, url: `ssh://git@example.org${origin}` };
  expect(await fetchBranch(repository, far)).toBe(to);
  const next = await made(to, 'y.txt');
  expect(await pushCommit(repository, { ...far, from: to, to: next })).toBe('moved');
  expect(at()).toBe(next);
  expect(fired()).toEqual(['own-ssh']);
  // Even there, a program is no transport.
  writeFileSync(
    join(home, 'person/.gitconfig'),
    `[url "ext::${script} own "]\n\tinsteadOf = https://example.org/\n[protocol]\n\tallow = always\n`,
  );
  expect(await refusal(fetchBranch(repository, { ...remote, url: 'https://example.org/x' }))).toContain('not allowed');
  expect(fired()).toEqual(['own-ssh']);
  expect(readdirSync(home)).not.toContain('x');
});

describe("the user's remote-tracking branch", () => {
  test('follows a push, forward only, and only if it exists', async () => {
    const { root, repository, main, ownDir, made } = await remotePlace();
    const to = await made(main, 'x.txt');
    await exportCommits(repository, ownDir, { tip: to, not: [main] });
    const tracked = () => git(root, 'rev-parse', 'refs/remotes/origin/main').trim();
    const before = snapshot(root, (path) => /^\.git\/(logs\/)?refs\/remotes|^\.git\/packed-refs/.test(path));
    await trackRemote(repository, { remote: 'origin', branch: 'main', commit: to });
    expect(tracked()).toBe(to);
    await trackRemote(repository, { remote: 'origin', branch: 'main', commit: main });
    expect(tracked()).toBe(to);
    await trackRemote(repository, { remote: 'origin', branch: 'none', commit: to });
    await trackRemote(repository, { remote: 'upstream', branch: 'main', commit: to });
    expect(git(root, 'for-each-ref', '--format=%(refname)', 'refs/remotes')).toBe(
      'refs/remotes/origin/HEAD\nrefs/remotes/origin/main\n',
    );
    expect(snapshot(root, (path) => /^\.git\/(logs\/)?refs\/remotes|^\.git\/packed-refs/.test(path))).toEqual(before);
  });
});

test('if there is neither main nor master, origin’s default comes before the checked-out branch', async () => {
  const origin = makeRepository(join(temporaryDirectory(), 'origin'));
  git(origin, 'branch', '--quiet', '-m', 'main', 'trunk');
  const root = join(temporaryDirectory(), 'clone');
  git(origin, 'clone', '--quiet', origin, root);
  const repository = await openRepository(root);
  git(root, 'switch', '--quiet', '--create', 'feature');
  expect(await defaultBranch(repository)).toBe('trunk');
  expect(await defaultBranch(repository, 'feature')).toBe('trunk');
  // A branch that only origin has cannot be compared with anything here.
  git(root, 'branch', '--quiet', '-D', 'trunk');
  expect(await defaultBranch(repository)).toBe('feature');
});

test('an earlier choice is kept while it exists, whatever is checked out', async () => {
  const root = makeRepository(join(temporaryDirectory(), 'project'));
  const repository = await openRepository(root);
  git(root, 'branch', '--quiet', '-m', 'main', 'trunk');
  git(root, 'switch', '--quiet', '--create', 'feature');
  expect(await defaultBranch(repository, 'trunk')).toBe('trunk');
  git(root, 'branch', '--quiet', '-D', 'trunk');
  expect(await defaultBranch(repository, 'trunk')).toBe('feature');
  git(root, 'branch', 'main');
  expect(await defaultBranch(repository, 'feature')).toBe('main');
});

test('the default branch is main, else master, else the checked-out one', async () => {
  const root = makeRepository(join(temporaryDirectory(), 'project'));
  const repository = await openRepository(root);
  git(root, 'branch', 'master');
  git(root, 'switch', '--quiet', '--create', 'trunk');
  expect(await defaultBranch(repository)).toBe('main');
  git(root, 'branch', '--quiet', '-D', 'main');
  expect(await defaultBranch(repository)).toBe('master');
  git(root, 'branch', '--quiet', '-D', 'master');
  expect(await defaultBranch(repository)).toBe('trunk');
  git(root, 'checkout', '--quiet', '--detach');
  expect(await refusal(defaultBranch(repository))).toMatch(/^not_found: .* → Name it/);
});
