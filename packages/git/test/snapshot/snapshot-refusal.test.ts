import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@pawl/schema/id';
import { describe, expect, test } from 'vitest';
import { gitLimits } from '../../src/command/limit.ts';
import { openRepository } from '../../src/repository/repository.ts';
import { dropSnapshot, listSnapshots, takeSnapshot } from '../../src/snapshot/snapshot.ts';
import { addWorktree } from '../../src/worktree/worktree.ts';
import { carry, setUpSnapshot, stateOf } from '../carried.ts';
import { commitAll, git, makeRepository, recordGit, refusal, temporaryDirectory, write } from '../fixture.ts';

describe('refuses', () => {
  test('a repository without commits, a bare one, a stranger’s directory and a bad name', async () => {
    const home = temporaryDirectory();
    const ownDir = join(home, 'own.git');
    const name = newId();
    git(home, 'init', '--quiet', 'unborn');
    const unborn = await openRepository(join(home, 'unborn'));
    expect(await refusal(takeSnapshot(unborn, { ownDir, path: unborn.root, name }))).toMatch(/^no_commits: .* → /);
    git(home, 'init', '--quiet', '--bare', 'bare.git');
    const bare = await openRepository(join(home, 'bare.git'));
    expect(await refusal(takeSnapshot(bare, { ownDir, path: bare.root, name }))).toMatch(/^invalid_input: .*bare/);
    const repository = await openRepository(makeRepository(join(home, 'project')));
    const take = (path: string, as: string) => takeSnapshot(repository, { ownDir: `${ownDir}2`, path, name: as });
    expect(await refusal(take(join(home, 'unborn'), name))).toMatch(/^not_found: /);
    for (const bad of ['', '../../x', 'short', `${name}x`, `-${name.slice(1)}`]) {
      expect(await refusal(take(repository.root, bad))).toMatch(/^invalid_input: /);
      expect(await refusal(dropSnapshot(ownDir, bad))).toMatch(/^invalid_input: /);
    }
  });

  test('more than can be carried, before anything is stored', async () => {
    const place = await setUpSnapshot('linked');
    const file = join(place.parent, 'huge.bin');
    writeFileSync(file, '');
    truncateSync(file, gitLimits.snapshotBytes + 1);
    expect(await refusal(carry(place))).toMatch(/^too_large: .* → .*\.gitignore/);
    for (const name of await listSnapshots(place.ownDir)) {
      expect(readdirSync(join(place.ownDir, 'pawl-snapshots', name))).toEqual([]);
    }
  });

  test('another base than the snapshot’s', async () => {
    const place = await setUpSnapshot('linked');
    const name = newId();
    const { ownDir, repository } = place;
    const { head, commit } = await takeSnapshot(repository, { ownDir, path: place.parent, name });
    const base = commitAll(place.root, 'later');
    expect(base).not.toBe(head);
    const request = { ownDir, path: join(place.home, 'child'), branch: 'work/child', base, snapshot: { name, commit } };
    expect(await refusal(addWorktree(repository, request))).toMatch(/^invalid_input: /);
  });
});

describe('files that change meanwhile', () => {
  /** Puts a `git` before the real one that runs a command whenever files are stored. */
  function meanwhile(command: string): void {
    const directory = temporaryDirectory();
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const script = `#!/bin/sh\ncase "$*" in *--stdin*) ${command};; esac\nexec '${real}' "$@"\n`;
    writeFileSync(join(directory, 'git'), script, { mode: 0o755 });
    recordGit();
    process.env['PATH'] = `${directory}:${process.env['PATH']}`;
  }

  test('once: it is taken again', async () => {
    const place = await setUpSnapshot('linked');
    write(place.parent, { 'old.txt': 'old\n', 'gone.txt': 'gone\n' });
    const mark = join(place.home, 'mark');
    const change = `echo changed >'${place.parent}/old.txt'; rm '${place.parent}/gone.txt'; : >'${place.parent}/new.txt'`;
    meanwhile(`if [ ! -e '${mark}' ]; then : >'${mark}'; ${change}; fi`);
    const child = await carry(place);
    expect(stateOf(child).lines).toBe('?? new.txt\n?? old.txt\n');
    expect(readFileSync(join(child, 'old.txt'), 'utf8')).toBe('changed\n');
  });

  test('all the time: it says so', async () => {
    const place = await setUpSnapshot('linked');
    write(place.parent, { 'log.txt': 'x\n' });
    meanwhile(`echo more >>'${place.parent}/log.txt'`);
    expect(await refusal(carry(place))).toMatch(/^busy: .*keep changing.* → .*Wait/);
  });

  test('the index or HEAD: never a mixture', async () => {
    const place = await setUpSnapshot('linked');
    write(place.parent, { 'readme.md': 'changed\n' });
    const mark = join(place.home, 'mark');
    const person = `env -i PATH="$PATH" git -C '${place.parent}' -c user.name=x -c user.email=x`;
    meanwhile(`if [ ! -e '${mark}' ]; then : >'${mark}'; ${person} commit -qam x; fi`);
    const child = await carry(place);
    expect(git(child, 'rev-parse', 'HEAD')).toBe(git(place.parent, 'rev-parse', 'HEAD'));
    expect(stateOf(child).lines).toBe('');
  });
});
