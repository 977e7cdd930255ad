import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hasErrno } from '@pawl/schema/error';

export type FakeCheck = {
  kind: 'run' | 'status';
  name: string;
  workflow: string;
  /** For a run `QUEUED`, `IN_PROGRESS` or `COMPLETED`; unused for a status. */
  status: string;
  /** For a run that is completed its conclusion, for a status its state. */
  conclusion: string;
  startedAt: string;
};

export type FakeReview = { login: string; association: string; state: string; body: string };

export type FakePull = {
  number: number;
  title: string;
  body: string;
  author: string;
  assignees: string[];
  branch: string;
  /** The owner of the repository with the branch. */
  headOwner: string;
  /** The last seen head; it stays when the branch is deleted. */
  head: string;
  base: string;
  state: 'OPEN' | 'MERGED' | 'CLOSED';
  draft: boolean;
  labels: string[];
  comments: { login: string; body: string }[];
  reviews: FakeReview[];
  mergeCommit: string | null;
};

export type FakeRun = {
  id: number;
  branch: string;
  commit: string;
  workflow: string;
  event: string;
  status: string;
  conclusion: string;
};

/** A fault: `lost-answer` executes the request, and then loses the connection. */
export type FakeTrouble = {
  kind: 'auth' | 'bad-credentials' | 'rate-limit' | 'offline' | 'forbidden' | 'lost-answer' | 'garbage';
  /** Only for commands that begin with these words, such as `pr merge`. */
  command: string;
  /** How often it happens. */
  times: number;
};

/** The server's state, and a test's instructions. */
export type FakeState = {
  host: string;
  owner: string;
  name: string;
  /** The bare repositories by owner, including this one's. */
  repositories: Record<string, string>;
  viewer: string;
  permission: string;
  /** The target branch's requirements for a merge; null if it is not protected. */
  protection: { checks: string[]; reviews: number; upToDate: boolean } | null;
  /** The server has its own merge queue, which is used instead of merging. */
  mergeQueue: boolean;
  methods: string[];
  labels: string[];
  pulls: FakePull[];
  /** Pull requests that its search does not know yet. */
  unindexed: number[];
  issues: { number: number; title: string; body: string; labels: string[]; state: string }[];
  checks: Record<string, FakeCheck[]>;
  /** Newest first. */
  runs: FakeRun[];
  trouble: FakeTrouble | null;
  /** Seconds since its start; each command takes one. */
  ticks: number;
  /** The arguments of each command that was run. */
  log: string[][];
};

/** Reads the state, lets `work` change it, and writes it, under a lock. */
export function withState<Result>(path: string, work: (state: FakeState) => Result): Result {
  const lock = `${path}.lock`;
  acquire(lock);
  try {
    const state = JSON.parse(readFileSync(path, 'utf8')) as FakeState;
    const result = work(state);
    writeFileSync(`${path}.new`, JSON.stringify(state));
    renameSync(`${path}.new`, path);
    return result;
  } finally {
    rmSync(lock, { force: true });
  }
}

const lockPauseMs = 5;
const lockPauses = 6_000;
const abandonedMs = 20_000;

function acquire(lock: string): void {
  for (let pauses = 0; pauses < lockPauses; pauses += 1) {
    try {
      closeSync(openSync(lock, 'wx'));
      return;
    } catch (error) {
      if (!hasErrno(error, 'EEXIST')) throw error;
      if (isAbandoned(lock)) rmSync(lock, { force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lockPauseMs);
    }
  }
  throw new Error(`${lock} was held for too long`);
}

/** A killed process does not come back for its lock; no command takes nearly that long. */
function isAbandoned(lock: string): boolean {
  const { mtimeMs = Infinity } = statSync(lock, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs > abandonedMs;
}

/** The time on the server. */
export function timeOf(state: FakeState, ticks = state.ticks): string {
  return new Date(Date.UTC(2026, 0, 1) + ticks * 1000).toISOString().replace('.000Z', 'Z');
}
