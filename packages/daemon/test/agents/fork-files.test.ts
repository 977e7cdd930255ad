import { git } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestDaemon } from '../support/daemon.ts';
import { startTestDaemon } from '../support/daemon.ts';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

describe('a fork with files', () => {
  test('staged, unstaged and untracked files are copied as they are, and the parent is untouched', async () => {
    const parent = await daemon.work([
      { write: { path: 'tracked.txt', content: 'one\n' } },
      { write: { path: 'both.txt', content: 'one\n' } },
      { write: { path: 'gone.txt', content: 'one\n' } },
      { commit: 'three files' },
      {
        shell:
          'echo staged > staged.txt; git add staged.txt; echo two >> both.txt; git add both.txt; echo three >> both.txt',
      },
      {
        shell:
          'echo two >> tracked.txt; rm gone.txt; mkdir -p deep/er; echo new > "deep/er/a file.txt"; git mv README.md READ',
      },
      {
        shell:
          'echo secret > ignored.env; echo "*.env" > .gitignore; echo ignored.env > .worktreeinclude; echo no > other.env',
      },
      'complete',
    ]);
    await daemon.ended(parent.id);
    const from = parent.worktree ?? '';
    chmodSync(join(from, 'staged.txt'), 0o755);
    symlinkSync('staged.txt', join(from, 'link'));
    unlinkSync(join(from, 'tracked.txt'));
    mkdirSync(join(from, 'tracked.txt'));
    writeFileSync(join(from, 'tracked.txt', 'inside'), 'a directory now\n');
    const before = await fingerprint(from);
    const child = await daemon.fork(parent.id, { withFiles: true, switch: false });
    expect(await fingerprint(from)).toEqual(before);
    const to = child.worktree ?? '';
    await worktreeMade(child.id);
    expect(await fingerprint(from)).toEqual(before);
    const status = ['status', '--porcelain=v1', '-uall'];
    expect(await git(to, status)).toBe(await git(from, status));
    expect(await git(to, status)).not.toBe('');
    expect(await git(to, ['ls-files', '-s'])).toBe(await git(from, ['ls-files', '-s']));
    expect(await git(to, ['diff'])).toBe(await git(from, ['diff']));
    expect(readFileSync(join(to, 'ignored.env'), 'utf8')).toBe('secret\n');
    expect(existsSync(join(to, 'other.env'))).toBe(false);
    expect(await git(to, ['rev-parse', 'HEAD'])).toBe(await git(from, ['rev-parse', 'HEAD']));
  });

  test('of an agent whose worktree does not exist yet waits for it, and never takes another’s files', async () => {
    writeFileSync(join(daemon.repository, 'mine.txt'), 'the person’s own\n');
    const parent = await daemon.work(['hang']);
    const child = await daemon.fork(parent.id, { withFiles: true, switch: false });
    await worktreeMade(child.id);
    expect(existsSync(join(child.worktree ?? '', 'mine.txt'))).toBe(false);
    expect(await git(child.worktree ?? '', ['status', '--porcelain'])).toBe('');
    unlinkSync(join(daemon.repository, 'mine.txt'));
    await daemon.client.stopAgent(parent.id);
  });

  test('of agent 0 carries the person’s uncommitted files, and leaves them alone', async () => {
    writeFileSync(join(daemon.repository, 'draft.txt'), 'a draft\n');
    const before = await fingerprint(daemon.repository);
    const child = await daemon.fork('root', { path: daemon.repository, withFiles: true, switch: false });
    await worktreeMade(child.id);
    expect(await fingerprint(daemon.repository)).toEqual(before);
    const status = await git(child.worktree ?? '', ['status', '--porcelain']);
    expect(status).toContain('?? draft.txt');
    expect(status).toBe(await git(daemon.repository, ['status', '--porcelain']));
    unlinkSync(join(daemon.repository, 'draft.txt'));
  });
});

async function worktreeMade(agentId: string): Promise<void> {
  const made = async () => {
    const { events } = await daemon.client.events({ agent: agentId });
    return events.some((event) => event.type === 'worktree.created');
  };
  await waitUntil(made, { what: 'the worktree' });
}

/** The index byte for byte, the stash, and every file with its time. */
async function fingerprint(worktree: string) {
  const index = await git(worktree, ['rev-parse', '--path-format=absolute', '--git-path', 'index']);
  const files = (await git(worktree, ['ls-files', '-co', '--exclude-standard'])).split('\n');
  return {
    index: readFileSync(index).toString('base64'),
    indexTime: statSync(index).mtimeMs,
    stash: await git(worktree, ['stash', 'list']),
    files: files.map((file) => {
      const found = statSync(join(worktree, file), { throwIfNoEntry: false });
      return [file, found?.mtimeMs, found?.mode, found?.size];
    }),
  };
}
