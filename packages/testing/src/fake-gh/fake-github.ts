import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git, isolatedGitEnvironment } from '../sample-repository.ts';
import type { FakeAnswer } from './answer.ts';
import { runFakeGh } from './main.ts';
import type { FakeCheck, FakeReview, FakeState } from './state.ts';
import { timeOf, withState } from './state.ts';

/** A server with one repository, for tests, and a `gh` for it. */
export type FakeGithub = {
  /** A directory with the program `gh`, to put first in PATH. */
  bin: string;
  /** The server's bare repository, also its URL. */
  repository: string;
  /** Runs a command of `gh` in this process. */
  gh(words: readonly string[], input?: string): FakeAnswer;
  /** Changes the server's state, and returns a value. */
  on<Result>(work: (state: FakeState) => Result): Result;
  /** Commits to a branch of the server, like somebody's push. Returns the commit. */
  push(branch: string, files: Record<string, string>, options?: { from?: string; owner?: string }): Promise<string>;
  /** Sets the result of a commit's check, in GitHub's words: `SUCCESS`, or `IN_PROGRESS` for a running one. */
  check(commit: string, name: string, word: string): void;
  review(number: number, login: string, state: string, association?: string): void;
  /** Adds a workflow run on a branch, as the newest. */
  run(branch: string, commit: string, conclusion: string, options?: { event?: string; workflow?: string }): void;
};

/** Creates a server in a directory, with one commit on `main`. */
export async function createFakeGithub(directory: string, given: Partial<FakeState> = {}): Promise<FakeGithub> {
  const repository = join(directory, 'server.git');
  await git(directory, ['init', '--quiet', '--bare', '--initial-branch=main', repository]);
  importInto(repository, firstCommit);
  const path = join(directory, 'server.json');
  const state: FakeState = { ...freshState, repositories: { [freshState.owner]: repository }, ...given };
  writeFileSync(path, JSON.stringify(state));
  const on: FakeGithub['on'] = (change) => withState(path, change);
  return {
    bin: writeProgram(join(directory, 'server-bin'), path),
    repository,
    gh: (words, input) => runFakeGh(path, words, input),
    on,
    async push(branch, files, options = {}) {
      const { repositories, owner, ticks } = on((now) => ({ ...now, ticks: (now.ticks += 1) }));
      const seconds = 1_767_225_600 + ticks;
      const place = repositories[options.owner ?? owner] ?? '';
      return pushCommit(place, { branch, files, from: options.from ?? 'main', seconds });
    },
    check: (commit, name, word) => on((now) => void (now.checks[commit] ??= []).push(checkOf(now, name, word))),
    review: (number, login, word, association = 'MEMBER') =>
      on((now) => {
        const review: FakeReview = { login, association, state: word, body: '' };
        now.pulls.find((pull) => pull.number === number)?.reviews.push(review);
      }),
    run: (branch, commit, conclusion, { event = 'push', workflow = 'ci' } = {}) =>
      on((now) => {
        const status = conclusion === '' ? 'in_progress' : 'completed';
        now.runs.unshift({ id: now.runs.length + 1, branch, commit, workflow, event, status, conclusion });
      }),
  };
}

const freshState: FakeState = {
  host: 'github.com',
  owner: 'octo',
  name: 'sample',
  repositories: {},
  viewer: 'octo-cat',
  permission: 'WRITE',
  protection: null,
  mergeQueue: false,
  methods: ['merge', 'squash', 'rebase'],
  labels: ['bug'],
  pulls: [],
  unindexed: [],
  issues: [],
  checks: {},
  runs: [],
  trouble: null,
  ticks: 0,
  log: [],
};

function checkOf(state: FakeState, name: string, word: string): FakeCheck {
  state.ticks += 1;
  const isRunning = ['QUEUED', 'IN_PROGRESS'].includes(word);
  const status = isRunning ? word : 'COMPLETED';
  return { kind: 'run', name, workflow: 'ci', status, conclusion: isRunning ? '' : word, startedAt: timeOf(state) };
}

/** The built one: tests call it hundreds of times, and from source it takes four times as long to start. */
const fakeGh = join(import.meta.dirname, '..', '..', '..', '..', '.cache', 'crash-daemon', 'fake-gh.mjs');

function writeProgram(directory: string, state: string): string {
  mkdirSync(directory, { recursive: true });
  const program = join(directory, 'gh');
  const quoted = [process.execPath, fakeGh, state].map((word) => `'${word}'`);
  writeFileSync(program, `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`);
  chmodSync(program, 0o755);
  return directory;
}

/** The first commit of a sample repository. */
const firstCommit = [
  'commit refs/heads/main',
  'committer Sample Author <author@example.invalid> 1767225600 +0000',
  data('first commit\n'),
  'M 100644 inline README.md',
  data('# Sample\n'),
];

type Push = { branch: string; files: Record<string, string>; from: string; seconds: number };

/** Commits to a branch, with one git process; leaves a branch alone that would lose commits. */
function pushCommit(repository: string, { branch, files, from, seconds }: Push): string {
  return importInto(repository, [
    `commit refs/heads/${branch}`,
    'mark :1',
    `committer Somebody <somebody@example.invalid> ${seconds} +0000`,
    data(`change ${Object.keys(files).join(' ')}\n`),
    `from ${/^[0-9a-f]{40}$/.test(from) ? from : `refs/heads/${from}^0`}`,
    ...Object.entries(files).flatMap(([path, text]) => [`M 100644 inline ${path}`, data(text)]),
    'get-mark :1',
  ]);
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}

function importInto(repository: string, lines: readonly string[]): string {
  const options = {
    cwd: repository,
    env: isolatedGitEnvironment(),
    input: `${lines.join('\n')}\n`,
    encoding: 'utf8',
  } as const;
  const { status, stdout, stderr } = spawnSync('git', ['fast-import', '--quiet'], options);
  if (status !== 0) throw new Error(`git fast-import: ${stderr}`);
  return stdout.trim();
}
