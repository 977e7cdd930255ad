import { sampleOf } from '@pawl/testing/endurance';
import { execFileSync } from 'node:child_process';
import { rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeCheckClone } from '../src/merge/check-clone.ts';
import { closeChain, mergeStep } from '../src/merge/merge-step.ts';
import { exportCommits, importCommits } from '../src/merge/queue-objects.ts';
import { defaultBranch, fetchBranch, pushCommit, remoteUrl, trackRemote } from '../src/repository/remote.ts';
import { openRepository } from '../src/repository/repository.ts';
import { git, personEnvironment, snapshot, write } from './fixture.ts';
import { plant, tryGit } from './planting.ts';
import { atMs } from './queueing.ts';

const attributes = '* filter=evil diff=evil merge=evil\n*.long filter=long\n';

/** Makes a commit without any of the planted commands, by trees alone. */
function forge(root: string, parent: string, files: Record<string, string>): string {
  const index = join(root, '.git/forged');
  const plain = (...args: string[]) => {
    const env = { ...personEnvironment, GIT_INDEX_FILE: index };
    const disarmed = ['-c', 'core.fsmonitor=', '-c', 'core.hooksPath=/dev/null'];
    return execFileSync('git', [...disarmed, ...args], { cwd: root, encoding: 'utf8', env }).trim();
  };
  plain('read-tree', parent);
  for (const [name, text] of Object.entries(files)) {
    write(root, { '.git/forged-file': text });
    const blob = plain('hash-object', '-w', '--no-filters', '.git/forged-file');
    plain('update-index', '--add', '--cacheinfo', `100644,${blob},${name}`);
  }
  const commit = plain('commit-tree', '-p', parent, '-m', 'forged', plain('write-tree'));
  for (const left of [index, `${index}-file`]) rmSync(left);
  return commit;
}

const places = ['config', 'included file', 'worktree config', 'config of the person'] as const;

test.each(sampleOf(places, 2))(
  'commands planted in the %s never run, over the whole way of a change into main [fault 40]',
  async (place) => {
    const { home, root, fired, reset } = plant(place);
    const main = git(root, 'rev-parse', 'main').trim();
    const head = forge(root, main, { 'a.txt': 'head\n', 'n.long': 'n\n', '.gitattributes': attributes });
    const onto = forge(root, main, { 'c.md': 'onto\n', '.gitattributes': attributes });
    const clash = forge(root, main, { 'a.txt': 'clash\n' });
    const origin = join(home, 'origin.git');
    git(home, 'init', '--quiet', '--bare', origin);
    git(home, `--git-dir=${origin}`, 'fetch', '--quiet', join(root, '.git'), `${main}:refs/heads/main`);
    reset();
    const before = snapshot(root, (path) => path.startsWith('.git/objects'));
    const repository = await openRepository(root);
    const ownDir = join(home, 'own.git');
    await importCommits(repository, ownDir, { tips: [head, onto, clash], not: [main] });
    let tip = onto;
    for (const method of ['squash', 'merge', 'rebase'] as const) {
      const request = { ownDir, method, message: 'm', atMs };
      const step = await mergeStep(repository, { ...request, onto, head });
      if (step.do !== 'merged') throw new Error(step.do);
      tip = step.commit;
      expect((await mergeStep(repository, { ...request, onto: tip, head: clash })).do).toBe('conflict');
    }
    const to = await closeChain(repository, { ownDir, main, tip, message: 'm', atMs });
    await makeCheckClone(repository, { ownDir, commit: to, dir: join(home, 'check') });
    await exportCommits(repository, ownDir, { tip: to, not: [main] });
    expect(await defaultBranch(repository)).toBe('main');
    await remoteUrl(repository, 'origin');
    await trackRemote(repository, { remote: 'origin', branch: 'main', commit: to });
    expect(fired()).toEqual([]);
    // A person's own config is theirs, and counts on the way to a remote; a repository's never does.
    if (place !== 'config of the person') {
      const remote = { ownDir, url: origin, branch: 'main' };
      expect(await fetchBranch(repository, remote)).toBe(main);
      expect(await pushCommit(repository, { ...remote, from: main, to })).toBe('moved');
    }
    expect(fired()).toEqual([]);
    expect(snapshot(root, (path) => path.startsWith('.git/objects'))).toEqual(before);
    // Plain git does run them.
    tryGit(root, 'merge-tree', '--write-tree', head, clash);
    for (const name of ['a.txt', 'b.long']) utimesSync(join(root, name), 1, 1);
    tryGit(root, 'status');
    expect(fired()).toEqual(expect.arrayContaining(['clean', 'fsmonitor', 'mergeDriver', 'process']));
  },
);
