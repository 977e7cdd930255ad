import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectCarried, setUpSnapshot, stateOf, type SnapshotSetup } from '../carried.ts';
import { commitAll, git, write } from '../fixture.ts';

const files = {
  'a.txt': 'a\n',
  'b.txt': 'b\n',
  'c.txt': 'one\ntwo\nthree\nfour\nfive\nsix\n',
  'd/e.txt': 'e\n',
  'd/f.txt': 'f\n',
  'run.sh': '#!/bin/sh\n',
  '.gitignore': '*.ignored\nbuild/\n',
};

type Row = {
  does: (path: string, place: SnapshotSetup) => void;
  /** The lines that the parent's status must have, so that a row cannot be empty by mistake. */
  status: string;
  /** What is there and is not carried. */
  without?: string[];
};

/** A name that is not UTF-8. */
const oddBytes = Buffer.from([0x6f, 0xff, 0xfe, 0x2e, 0x74]);

const rows: Record<string, Row> = {
  nothing: { does: () => {}, status: '' },
  'a staged new file': {
    does: (path) => {
      write(path, { 'new.txt': 'new\n' });
      git(path, 'add', 'new.txt');
    },
    status: 'A  new.txt\n',
  },
  'a staged change': {
    does: (path) => {
      write(path, { 'a.txt': 'changed\n' });
      git(path, 'add', 'a.txt');
    },
    status: 'M  a.txt\n',
  },
  'a staged deletion': { does: (path) => void git(path, 'rm', '--quiet', 'a.txt'), status: 'D  a.txt\n' },
  'a staged deletion of a file that stays': {
    does: (path) => void git(path, 'rm', '--quiet', '--cached', 'a.txt'),
    status: 'D  a.txt\n?? a.txt\n',
  },
  'a staged rename': {
    does: (path) => void git(path, 'mv', 'c.txt', 'renamed.txt'),
    status: 'R  c.txt -> renamed.txt\n',
  },
  'an unstaged change': { does: (path) => write(path, { 'a.txt': 'changed\n' }), status: ' M a.txt\n' },
  'a change of the same size in the very second in which it was staged': {
    does: (path) => {
      write(path, { 'a.txt': 'x1\n' });
      git(path, 'add', 'a.txt');
      write(path, { 'a.txt': 'x2\n' });
    },
    status: 'MM a.txt\n',
  },
  'a file that was only touched': { does: (path) => utimesSync(join(path, 'a.txt'), 5, 5), status: '' },
  'an unstaged deletion': { does: (path) => unlinkSync(join(path, 'a.txt')), status: ' D a.txt\n' },
  'staged, then changed again': {
    does: (path) => {
      write(path, { 'a.txt': 'staged\n', 'new.txt': 'staged\n' });
      git(path, 'add', '.');
      write(path, { 'a.txt': 'a\n', 'new.txt': 'later\n' });
    },
    status: 'MM a.txt\nAM new.txt\n',
  },
  'staged, then deleted': {
    does: (path) => {
      write(path, { 'new.txt': 'staged\n' });
      git(path, 'add', '.');
      unlinkSync(join(path, 'new.txt'));
    },
    status: 'AD new.txt\n',
  },
  'a changed mode, staged and not': {
    does: (path) => {
      chmodSync(join(path, 'run.sh'), 0o755);
      git(path, 'add', 'run.sh');
      chmodSync(join(path, 'a.txt'), 0o755);
    },
    status: ' M a.txt\nM  run.sh\n',
  },
  'permissions that git does not track': {
    does: (path) => {
      write(path, { 'secret.txt': 'secret\n' });
      chmodSync(join(path, 'secret.txt'), 0o600);
    },
    status: '?? secret.txt\n',
  },
  'symbolic links, also to nowhere and to a directory': {
    does: (path) => {
      symlinkSync('a.txt', join(path, 'link'));
      symlinkSync('/nowhere', join(path, 'dangling'));
      symlinkSync('d', join(path, 'to-directory'));
      git(path, 'add', 'link');
    },
    status: 'A  link\n?? dangling\n?? to-directory\n',
  },
  'a file that became a link': {
    does: (path) => {
      unlinkSync(join(path, 'a.txt'));
      symlinkSync('b.txt', join(path, 'a.txt'));
    },
    status: ' T a.txt\n',
  },
  'a file that became a directory': {
    does: (path) => {
      unlinkSync(join(path, 'a.txt'));
      write(path, { 'a.txt/inner.txt': 'inner\n' });
    },
    status: ' D a.txt\n?? a.txt/inner.txt\n',
  },
  'a directory that became a file': {
    does: (path) => {
      rmSync(join(path, 'd'), { recursive: true });
      write(path, { d: 'file\n' });
    },
    status: ' D d/e.txt\n D d/f.txt\n?? d\n',
  },
  'a directory that became a link to one with the same names': {
    does: (path) => {
      renameSync(join(path, 'd'), join(path, 'moved'));
      symlinkSync('moved', join(path, 'd'));
    },
    status: ' D d/e.txt\n D d/f.txt\n?? d\n?? moved/e.txt\n?? moved/f.txt\n',
  },
  'untracked files and directories, and an empty one': {
    does: (path) => {
      write(path, { 'new.txt': 'new\n', 'deep/er/file.txt': 'x\n', 'empty.txt': '' });
      mkdirSync(join(path, 'void'));
    },
    status: '?? deep/er/file.txt\n?? empty.txt\n?? new.txt\n',
  },
  'odd names': {
    does: (path) => {
      write(path, { 'two words.txt': '1', 'line\nbreak': '2', 'zoë-東京': '3', '-leading': '4', '"quoted"\t\\': '5' });
      writeFileSync(Buffer.concat([Buffer.from(`${path}/`), oddBytes]), '6');
      git(path, 'add', '--', 'line\nbreak', '-leading');
      writeFileSync(Buffer.concat([Buffer.from(`${path}/d/`), oddBytes]), '7');
      git(path, 'add', 'd');
    },
    status: [
      'A  -leading\nA  "d/o\\377\\376.t"\nA  "line\\nbreak"\n?? "\\"quoted\\"\\t\\\\"\n?? "o\\377\\376.t"\n',
      '?? "two words.txt"\n?? "zo\\303\\253-\\346\\235\\261\\344\\272\\254"\n',
    ].join(''),
  },
  'a name that only some systems cannot have': {
    does: (path) => write(path, { 'git~1': 'x\n', con: 'y\n', 'back\\slash': 'z\n' }),
    status: '?? "back\\\\slash"\n?? con\n?? git~1\n',
  },
  'a file that is only announced': {
    does: (path) => {
      write(path, { 'later.txt': 'later\n', 'gone.txt': 'gone\n' });
      git(path, 'add', '--intent-to-add', 'later.txt', 'gone.txt');
      unlinkSync(join(path, 'gone.txt'));
    },
    status: ' D gone.txt\n A later.txt\n',
  },
  'a conflict in a merge': {
    does: (path) => {
      const base = git(path, 'rev-parse', 'HEAD').trim();
      git(path, 'checkout', '--quiet', '-b', 'theirs');
      write(path, { 'a.txt': 'theirs\n', 'both.txt': 'theirs\n' });
      git(path, 'rm', '--quiet', 'b.txt');
      commitAll(path, 'theirs');
      git(path, 'checkout', '--quiet', '--detach', base);
      write(path, { 'a.txt': 'ours\n', 'b.txt': 'ours\n', 'both.txt': 'ours\n' });
      commitAll(path, 'ours');
      expect(() => git(path, 'merge', '--quiet', 'theirs')).toThrow();
    },
    status: 'UU a.txt\nUD b.txt\nAA both.txt\n',
  },
  'an ignored file stays behind': {
    does: (path) => write(path, { 'x.ignored': 'x', 'build/out.js': 'x' }),
    status: '',
    without: ['x.ignored', 'build'],
  },
  'an ignored file that is tracked': {
    does: (path) => {
      write(path, { 'x.ignored': 'x\n' });
      git(path, 'add', '--force', 'x.ignored');
      write(path, { 'x.ignored': 'y\n' });
    },
    status: 'AM x.ignored\n',
  },
  'binary contents': {
    does: (path) => writeFileSync(join(path, 'bin'), Buffer.from(Array.from({ length: 4096 }, (_, i) => i % 256))),
    status: '?? bin\n',
  },
  'flags of the index': {
    does: (path) => {
      git(path, 'update-index', '--assume-unchanged', 'a.txt');
      git(path, 'update-index', '--skip-worktree', 'b.txt');
      write(path, { 'a.txt': 'unseen\n', 'b.txt': 'unseen\n' });
    },
    status: '',
  },
  'a split index': {
    does: (path) => {
      git(path, 'update-index', '--split-index');
      write(path, { 'a.txt': 'changed\n', 'new.txt': 'new\n' });
      git(path, 'add', 'new.txt');
    },
    status: ' M a.txt\nA  new.txt\n',
  },
  'an index of version 4 with caches': {
    does: (path) => {
      git(path, 'update-index', '--index-version', '4', '--force-untracked-cache');
      write(path, { 'a.txt': 'changed\n', 'new.txt': 'new\n' });
    },
    status: ' M a.txt\n?? new.txt\n',
  },
  'a pipe is left out': {
    does: (path) => void execFileSync('mkfifo', [join(path, 'pipe')]),
    status: '',
  },
  'a sparse checkout': {
    does: (path) => {
      git(path, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'other');
      write(path, { 'a.txt': 'changed\n' });
    },
    status: ' M a.txt\n',
  },
};

async function prove(kind: 'main' | 'linked', { does, status, without }: Row): Promise<void> {
  const place = await setUpSnapshot(kind, files);
  does(place.parent, place);
  expect(stateOf(place.parent).lines).toBe(status);
  await expectCarried(place, without);
}

describe('--with-files carries the files of a linked worktree', () => {
  test.each(Object.entries(rows))('%s', (_, row) => prove('linked', row));
});

describe('--with-files carries the files of the main work tree', () => {
  const names = ['staged, then changed again', 'odd names', 'a conflict in a merge', 'a split index'];
  test.each(names)('%s', (name) => prove('main', rows[name]!));
});
