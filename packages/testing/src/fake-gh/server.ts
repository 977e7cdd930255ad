import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isolatedGitEnvironment } from '../sample-repository.ts';
import type { FakePull, FakeState } from './state.ts';

const identity = {
  GIT_AUTHOR_NAME: 'Octo Cat',
  GIT_AUTHOR_EMAIL: 'octo@example.invalid',
  GIT_COMMITTER_NAME: 'GitHub',
  GIT_COMMITTER_EMAIL: 'noreply@example.invalid',
};

function run(cwd: string, words: readonly string[], input?: string) {
  const env = { ...isolatedGitEnvironment(), ...identity };
  return spawnSync('git', words, { cwd, env, encoding: 'utf8', ...(input === undefined ? {} : { input }) });
}

function git(cwd: string, words: readonly string[], input?: string): string {
  const { status, stdout, stderr } = run(cwd, words, input);
  if (status !== 0) throw new Error(`git ${words.join(' ')}: ${stderr}`);
  return stdout.trim();
}

/** The target repository of pull requests. */
function repositoryOf(state: FakeState): string {
  return state.repositories[state.owner] ?? '';
}

/** The commit of a branch on the server, or null. */
export function tipOf(state: FakeState, branch: string, owner = state.owner): string | null {
  const path = state.repositories[owner];
  if (path === undefined) return null;
  const { status, stdout } = run(path, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`]);
  return status === 0 ? stdout.trim() : null;
}

/** Updates the head of an open pull request from its branch, and fetches from a fork. */
export function followHead(state: FakeState, pull: FakePull): void {
  if (pull.state !== 'OPEN') return;
  const tip = tipOf(state, pull.branch, pull.headOwner);
  if (tip === null || tip === pull.head) return;
  pull.head = tip;
  const source = state.repositories[pull.headOwner];
  if (pull.headOwner !== state.owner && source !== undefined) {
    git(repositoryOf(state), ['fetch', '--quiet', source, `+refs/heads/${pull.branch}:refs/pull/${pull.number}/head`]);
  }
}

/** The tree of a merge, or null on conflict. */
export function mergedTree(state: FakeState, onto: string, head: string): string | null {
  const { status, stdout } = run(repositoryOf(state), ['merge-tree', '--write-tree', '--no-messages', onto, head]);
  return status === 0 ? (stdout.split('\n')[0] ?? null) : null;
}

/** True if one commit contains everything in the other. */
export function contains(state: FakeState, commit: string, other: string): boolean {
  return run(repositoryOf(state), ['merge-base', '--is-ancestor', other, commit]).status === 0;
}

/** Makes a merge commit, without moving anything; null on conflict. */
export function makeMerge(
  state: FakeState,
  { head, onto, method, message }: { head: string; onto: string; method: string; message: string },
): string | null {
  if (method === 'rebase') return rebased(state, head, onto);
  const tree = mergedTree(state, onto, head);
  if (tree === null) return null;
  const parents = method === 'squash' ? [onto] : [onto, head];
  const words = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])];
  return git(repositoryOf(state), words, message);
}

function rebased(state: FakeState, head: string, onto: string): string | null {
  const place = mkdtempSync(join(tmpdir(), 'fake-gh-'));
  try {
    git(place, ['clone', '--quiet', '--no-checkout', repositoryOf(state), 'clone']);
    const clone = join(place, 'clone');
    git(clone, ['fetch', '--quiet', 'origin', '+refs/*:refs/server/*']);
    git(clone, ['checkout', '--quiet', '--detach', head]);
    if (run(clone, ['rebase', '--quiet', onto]).status !== 0) return null;
    git(clone, ['push', '--quiet', 'origin', 'HEAD:refs/fake/rebased']);
    return git(clone, ['rev-parse', 'HEAD']);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/** Moves a branch, unless somebody else has. */
export function moveBranch(state: FakeState, branch: string, to: string, from: string): boolean {
  return run(repositoryOf(state), ['update-ref', `refs/heads/${branch}`, to, from]).status === 0;
}
