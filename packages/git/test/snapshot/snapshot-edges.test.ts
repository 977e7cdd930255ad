import { endurance } from '@pawl/testing/endurance';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { newId } from '@pawl/schema/id';
import { describe, expect, test } from 'vitest';
import { keepOutOfCommits } from '../../src/repository/exclude.ts';
import { openRepository } from '../../src/repository/repository.ts';
import { dropSnapshot, listSnapshots, takeSnapshot } from '../../src/snapshot/snapshot.ts';
import { addWorktree } from '../../src/worktree/worktree.ts';
import { worktreeStatus } from '../../src/worktree/worktree-status.ts';
import { carry, expectCarried, filesOf, setUpSnapshot, stateOf, witness } from '../carried.ts';
import { commitAll, git, makeRepository, refusal, temporaryDirectory, write } from '../fixture.ts';

describe('contents are carried byte by byte', () => {
  test('CRLF with autocrlf in the user’s config', async () => {
    const place = await setUpSnapshot('main', { 'a.txt': 'one\n', 'b.txt': 'two\n' });
    git(place.root, 'config', 'core.autocrlf', 'true');
    write(place.root, { 'a.txt': 'one\r\n', 'new.txt': 'crlf\r\nand lf\n', 'b.txt': 'other\r\n' });
    utimesSync(join(place.root, 'a.txt'), 1_700_000_000, 1_700_000_000);
    git(place.root, 'add', 'a.txt');
    const child = await expectCarried(place);
    expect(readFileSync(join(child, 'a.txt'), 'utf8')).toBe('one\r\n');
    expect(stateOf(child).lines).toBe(' M b.txt\n?? new.txt\n');
    // Pawl itself does not know the user's setting, and takes the index's word for it.
    expect(await worktreeStatus(place.repository, { ownDir: place.ownDir, path: child })).toMatchObject({
      changed: 1,
      untracked: 1,
    });
  });

  test('attributes for line endings, encodings, identifiers and filters', async () => {
    const attributes = '*.txt text eol=crlf\n*.u16 working-tree-encoding=UTF-16LE\n*.id ident\n*.up filter=up\n';
    const place = await setUpSnapshot('linked', { '.gitattributes': attributes, 'a.txt': 'a\n', 'x.id': '$Id$\n' });
    git(place.root, 'config', 'filter.up.clean', 'tr a-z A-Z');
    git(place.root, 'config', 'filter.up.smudge', 'tr A-Z a-z');
    write(place.parent, { 'lf.txt': 'lf only\n', 'mixed.txt': 'a\r\nb\n', 'x.id': '$Id: mine $\n', 'f.up': 'low\n' });
    writeFileSync(join(place.parent, 'w.u16'), Buffer.from('wide\n', 'utf16le'));
    writeFileSync(join(place.parent, 'odd.u16'), Buffer.from([0x41]));
    git(place.parent, 'add', 'f.up', 'w.u16');
    const child = await expectCarried(place);
    expect(readFileSync(join(child, 'f.up'), 'utf8')).toBe('low\n');
    expect(git(child, 'show', ':f.up')).toBe('LOW\n');
  });
});

test('file times are carried to the microsecond, whole seconds exactly', async () => {
  const place = await setUpSnapshot('linked');
  // Just after a millisecond: a double of the seconds may fall short of it.
  const fractions = Array.from({ length: 100 }, (_, number) => `.${String(number).padStart(3, '0')}000001`);
  for (const fraction of ['', ...fractions]) {
    write(place.parent, { [`at${fraction}`]: 'x\n' });
    execFileSync('touch', ['-d', `2026-05-04 03:02:01${fraction}`, join(place.parent, `at${fraction}`)]);
  }
  const child = await expectCarried(place);
  const timeOf = (path: string) => lstatSync(join(path, 'at'), { bigint: true }).mtimeNs;
  expect(timeOf(child)).toBe(timeOf(place.parent));
});

describe("git's cached view of the files", () => {
  const settings = { default: [], minimal: ['core.checkStat=minimal', 'core.trustctime=false'] };
  test.each(Object.entries(settings))('is as true in the child, with %s checks', async (_, config) => {
    const place = await setUpSnapshot('linked', { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
    for (const setting of config) git(place.root, 'config', ...setting.split('='));
    for (const name of ['a.txt', 'b.txt', 'c.txt']) utimesSync(join(place.parent, name), 1_700_000_000, 1_700_000_000);
    git(place.parent, 'update-index', '--refresh');
    write(place.parent, { 'a.txt': 'x\n' });
    utimesSync(join(place.parent, 'a.txt'), 1_700_000_001, 1_700_000_001);
    expect(stateOf(place.parent).lines).toBe(' M a.txt\n');
    const child = await expectCarried(place);
    // Whatever the child changes from now on is seen, also with the same size.
    write(child, { 'b.txt': 'y\n' });
    expect(stateOf(child).lines).toBe(' M a.txt\n M b.txt\n');
  });

  test('is doubted where the parent doubted it: a change in the second in which the index was written', async () => {
    const place = await setUpSnapshot('linked', { 'a.txt': 'a\n' });
    for (const setting of settings.minimal) git(place.root, 'config', ...setting.split('='));
    const [file, index] = [join(place.parent, 'a.txt'), join(place.root, '.git/worktrees/parent/index')];
    write(place.parent, { 'a.txt': 'x\n' });
    utimesSync(file, 1_700_000_000, 1_700_000_000);
    git(place.parent, 'add', 'a.txt');
    write(place.parent, { 'a.txt': 'y\n' });
    for (const path of [file, index]) utimesSync(path, 1_700_000_000, 1_700_000_000);
    // Time and size are those of the index, and only its own age tells that they prove nothing.
    expect(stateOf(place.parent).lines).toBe('MM a.txt\n');
    await expectCarried(place);
  });

  test('unchanged files are not read again', async () => {
    const place = await setUpSnapshot('linked', { 'a.txt': 'a\n', 'b.txt': 'b\n' });
    const old = new Date(1_700_000_000_000);
    for (const name of ['a.txt', 'b.txt']) utimesSync(join(place.parent, name), old, old);
    git(place.parent, 'update-index', '--refresh');
    const child = await carry(place);
    const debug = git(child, 'ls-files', '--debug');
    expect(debug.match(/mtime: 1700000000:0/g)).toHaveLength(2);
    expect(debug).not.toMatch(/ino: 0\b/);
    expect(git(child, 'diff-files')).toBe('');
  });
});

describe('ignored files', () => {
  test('are carried when .worktreeinclude names them, but never .git and .pawl', async () => {
    const place = await setUpSnapshot('linked', {
      '.gitignore': '.env*\n.pawl/\nnode_modules/\ndata/\n',
      'a.txt': 'a\n',
    });
    write(place.parent, {
      '.worktreeinclude': '# local settings\n.env*\n!.env.prod\n.pawl\n.git\ndata/keep/\n',
      '.env': 'KEY=1\n',
      '.env.prod': 'KEY=2\n',
      'sub/.env.local': 'KEY=3\n',
      '.pawl/input/task.md': 'x',
      'node_modules/x/index.js': 'x',
      'data/keep/one.bin': '1',
      'data/other.bin': '2',
    });
    const child = await expectCarried(place, ['.env.prod', '.pawl', 'node_modules', 'data/other.bin']);
    expect(readFileSync(join(child, 'sub/.env.local'), 'utf8')).toBe('KEY=3\n');
    expect(stateOf(child).lines).toBe('?? .worktreeinclude\n');
  });

  test('a .worktreeinclude that is a link is not followed', async () => {
    const place = await setUpSnapshot('linked', { '.gitignore': '.env\n' });
    write(place.home, { patterns: '.env\n' });
    write(place.parent, { '.env': 'KEY=1\n' });
    symlinkSync(join(place.home, 'patterns'), join(place.parent, '.worktreeinclude'));
    await expectCarried(place, ['.env']);
  });

  test('are recognised from info/exclude and from the user’s own file as well', async () => {
    const place = await setUpSnapshot('linked', { 'a.txt': 'a\n' });
    write(place.home, { patterns: '*.swp\n' });
    git(place.root, 'config', 'core.excludesFile', join(place.home, 'patterns'));
    await keepOutOfCommits(place.repository, ['/.pawl/input/']);
    write(place.parent, { '.a.swp': 'x', '.pawl/input/task.md': 'x', 'b.txt': 'b\n' });
    const child = await expectCarried(place, ['.a.swp', '.pawl']);
    expect(stateOf(child).lines).toBe('?? b.txt\n');
    const status = await worktreeStatus(place.repository, { ownDir: place.ownDir, path: place.parent });
    expect(status.files).toEqual(['b.txt']);
  });
});

describe('other repositories inside', () => {
  test('a submodule is an empty directory in the child, a deleted one is deleted', async () => {
    const place = await setUpSnapshot('main');
    const library = makeRepository(join(place.home, 'library'));
    for (const name of ['lib', 'gone']) {
      git(place.root, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', library, name);
    }
    commitAll(place.root, 'submodules');
    write(place.root, { 'readme.md': 'changed\n' });
    rmSync(join(place.root, 'gone'), { recursive: true });
    expect(stateOf(place.root).lines).toBe(' D gone\n M readme.md\n');
    const child = await carry(place);
    expect(stateOf(child)).toEqual(stateOf(place.root));
    expect(readdirSync(join(child, 'lib'))).toEqual([]);
  });

  test('an untracked repository and another worktree are left out', async () => {
    const place = await setUpSnapshot('main');
    makeRepository(join(place.root, 'nested'));
    git(place.root, 'worktree', 'add', '--quiet', '--detach', join(place.root, 'trees/inner'));
    write(place.root, { 'new.txt': 'new\n' });
    const child = await carry(place);
    expect(stateOf(place.root).lines).toBe('?? nested/\n?? new.txt\n?? trees/inner/\n');
    expect(stateOf(child).lines).toBe('?? new.txt\n');
    expect(existsSync(join(child, 'nested'))).toBe(false);
  });
});

test('an index with names that lead outside is not followed', async () => {
  const place = await setUpSnapshot('linked', { 'a.txt': 'a\n', 'bb/outside': 'b\n' });
  write(place.home, { outside: 'beside the parent\n', 'trees/outside': 'beside the child\n' });
  const index = join(place.root, '.git/worktrees/parent/index');
  const bytes = readFileSync(index);
  bytes.write('..', bytes.indexOf('bb/outside'), 'latin1');
  // Git does not look at the names when it reads an index; its checksum must be right.
  createHash('sha1')
    .update(bytes.subarray(0, -20))
    .digest()
    .copy(bytes, bytes.length - 20);
  writeFileSync(index, bytes);
  const before = lstatSync(join(place.home, 'trees/outside'), { bigint: true });
  const child = await carry(place);
  expect(readFileSync(join(child, 'a.txt'), 'utf8')).toBe('a\n');
  expect(lstatSync(join(place.home, 'trees/outside'), { bigint: true })).toEqual(before);
  const [name = ''] = await listSnapshots(place.ownDir);
  const record = join(place.ownDir, 'pawl-snapshots', name);
  const [commit = ''] = readdirSync(record);
  expect(readFileSync(join(record, commit, 'files'), 'latin1')).not.toContain('..');
});

test('nothing planted runs, and a linked worktree is found by its pointer only', async () => {
  const place = await setUpSnapshot('linked', { '.gitattributes': '* filter=evil diff=evil\n', 'a.txt': 'a\n' });
  const marker = join(place.home, 'marker');
  const script = join(place.home, 'run');
  writeFileSync(script, `#!/bin/sh\n: >'${marker}'\ncat\n`, { mode: 0o755 });
  write(place.parent, { 'a.txt': 'changed\n', 'new.txt': 'new\n' });
  const planted = ['clean', 'smudge', 'process'].map((key) => `\t${key} = ${script}\n`).join('');
  const config = `[core]\n\tfsmonitor = ${script}\n\thooksPath = ${place.home}/hooks\n[filter "evil"]\n${planted}`;
  appendFileSync(join(place.root, '.git/config'), config);
  writeFileSync(join(place.root, '.git/worktrees/parent/config.worktree'), config);
  for (const directory of [join(place.home, 'hooks'), join(place.root, '.git/hooks')]) {
    mkdirSync(directory, { recursive: true });
    for (const hook of ['post-index-change', 'post-checkout', 'reference-transaction']) {
      writeFileSync(join(directory, hook), `#!/bin/sh\nexec '${script}'\n`, { mode: 0o755 });
    }
  }
  const child = await carry(place);
  expect(existsSync(marker)).toBe(false);
  expect(filesOf(child)).toEqual(filesOf(place.parent));
  // The same in plain git does run them.
  execFileSync('git', ['status'], { cwd: child, stdio: 'ignore' });
  expect(existsSync(marker)).toBe(true);
});

test('repeating a fork after the child has worked changes nothing', async () => {
  const place = await setUpSnapshot('linked');
  write(place.parent, { 'new.txt': 'new\n' });
  const name = newId();
  const { ownDir, repository } = place;
  const { head, commit } = await takeSnapshot(repository, { ownDir, path: place.parent, name });
  const request = { ownDir, path: join(place.home, 'child'), branch: 'work/child', base: head };
  await addWorktree(repository, { ...request, snapshot: { name, commit } });
  write(request.path, { 'new.txt': 'child\n' });
  git(request.path, 'rm', '--quiet', 'readme.md');
  const before = [stateOf(request.path), filesOf(request.path)];
  await dropSnapshot(ownDir, name);
  await addWorktree(repository, { ...request, snapshot: { name, commit } });
  expect([stateOf(request.path), filesOf(request.path)]).toEqual(before);
  // A lost directory whose branch has moved on comes back with the branch's files.
  const tip = commitAll(request.path, 'child');
  rmSync(request.path, { recursive: true });
  await addWorktree(repository, { ...request, snapshot: { name, commit } });
  expect(git(request.path, 'rev-parse', 'HEAD').trim()).toBe(tip);
  expect(stateOf(request.path).lines).toBe('');
});

test('taking a snapshot again replaces the first, and dropping it leaves nothing', async () => {
  const place = await setUpSnapshot('linked');
  const { ownDir, repository } = place;
  const [name, other] = [newId(), newId()];
  const take = (of: string) => takeSnapshot(repository, { ownDir, path: place.parent, name: of });
  write(place.parent, { 'new.txt': 'first\n' });
  const first = await take(name);
  git(place.parent, 'add', 'new.txt');
  const second = await take(name);
  // The same files, staged or not, are two different states.
  expect(second.commit).not.toBe(first.commit);
  await take(other);
  expect(await listSnapshots(ownDir)).toEqual([name, other].sort());
  expect(readdirSync(join(ownDir, 'pawl-snapshots', name))).toEqual([second.commit]);
  const request = { ownDir, path: join(place.home, 'child'), branch: 'work/child', base: second.head };
  const outdated = addWorktree(repository, { ...request, snapshot: { name, commit: first.commit } });
  expect(await refusal(outdated)).toMatch(/^not_found: .*snapshot/);
  await addWorktree(repository, { ...request, snapshot: { name, commit: second.commit } });
  expect(stateOf(request.path).lines).toBe('A  new.txt\n');
  await dropSnapshot(ownDir, name);
  await dropSnapshot(ownDir, other);
  expect(await listSnapshots(ownDir)).toEqual([]);
  expect(readdirSync(join(ownDir, 'pawl-snapshots'))).toEqual([]);
  expect(git(ownDir, 'count-objects')).toBe('0 objects, 0 kilobytes\n');
  expect(await listSnapshots(join(place.home, 'nowhere'))).toEqual([]);
});

test('many at once, of one parent', async () => {
  const place = await setUpSnapshot('linked');
  write(place.parent, { 'readme.md': 'changed\n', 'new.txt': 'new\n' });
  const before = witness(place);
  const names = Array.from({ length: 12 }, newId);
  const { ownDir, repository } = place;
  const taken = await Promise.all(names.map((name) => takeSnapshot(repository, { ownDir, path: place.parent, name })));
  expect(new Set(taken.map(({ head }) => head)).size).toBe(1);
  expect(witness(place)).toEqual(before);
  expect(await listSnapshots(ownDir)).toHaveLength(names.length);
});

test('a sha256 repository, and a path with odd characters', async () => {
  const home = temporaryDirectory();
  const root = join(home, 'pro "ject": x');
  mkdirSync(root);
  git(root, 'init', '--quiet', '--object-format=sha256', '--initial-branch=main');
  write(root, { 'a.txt': 'a\n' });
  commitAll(root, 'first');
  write(root, { 'a.txt': 'changed\n', 'b.txt': 'b\n' });
  git(root, 'add', 'b.txt');
  const place = { home, root, parent: root, repository: await openRepository(root), ownDir: join(home, 'o:w"n.git') };
  await expectCarried(place);
});

test('a property: random edits are carried as they are', async () => {
  const place = await setUpSnapshot(
    'linked',
    Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f${i}`, `${i}\n`])),
  );
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const edits: ((name: string) => void)[] = [
    (name) => write(place.parent, { [name]: `${random(1000)}\n` }),
    (name) => rmSync(join(place.parent, name), { recursive: true, force: true }),
    (name) => void git(place.parent, 'add', '--all', '--', `:(glob)${name}*`),
    (name) => void git(place.parent, 'reset', '--quiet', '--', name),
    (name) => {
      rmSync(join(place.parent, name), { recursive: true, force: true });
      symlinkSync(`f${random(12)}`, join(place.parent, name));
    },
    (name) => {
      if (existsSync(join(place.parent, name)))
        renameSync(join(place.parent, name), join(place.parent, `n${random(99)}`));
    },
    (name) => {
      rmSync(join(place.parent, name), { recursive: true, force: true });
      write(place.parent, { [`${name}/inner`]: `${random(1000)}\n` });
    },
  ];
  const rounds = endurance({ whole: 6, small: 2 });
  for (let round = 0; round < rounds; round += 1) {
    for (let edit = 0; edit < 12; edit += 1) {
      try {
        edits[random(edits.length)]?.(`f${random(14)}`);
      } catch {
        // Not every edit is possible in every state.
      }
    }
    await expectCarried(place);
  }
});
