import type { MergeMethod } from '@pawl/schema/change';

/** One CI run on a commit. */
export type ForgeCheck = { name: string; state: 'passed' | 'failed' | 'pending' | 'skipped'; url: string | null };

/** All CI runs of a commit. `none`: nothing has reported yet, which is not the same as passed. */
export type ForgeChecks = { state: 'passed' | 'failed' | 'pending' | 'none'; checks: ForgeCheck[] };

/** A change on a forge: a pull request or merge request. All text in it is foreign. */
export type ForgeChange = {
  /** The forge's number for it, as text. */
  ref: string;
  url: string;
  branch: string;
  /** The repository that has the branch, if it is a fork. */
  fork: string | null;
  head: string;
  base: string;
  title: string;
  body: string;
  author: string;
  state: 'open' | 'merged' | 'closed';
  draft: boolean;
  labels: string[];
  review: 'approved' | 'changes_requested' | 'required' | 'none';
  /** People who requested changes that are still open. */
  objectors: string[];
  mergeable: 'yes' | 'no' | 'unknown';
  /** For exactly `head`. */
  checks: ForgeChecks;
  /** The commit on the target branch, once merged. */
  mergedCommit: string | null;
};

export type NewForgeChange = {
  branch: string;
  /** The repository that has the branch, if it is a fork. */
  fork: string | null;
  base: string;
  title: string;
  body: string;
  draft: boolean;
};

export type ForgeMerge =
  | { do: 'merged'; commit: string }
  /** The forge's own merge queue has taken it. */
  | { do: 'queued' }
  | { do: 'refused'; why: 'head-moved' | 'base-moved' | 'conflict' | 'draft' | 'policy'; reason: string };

export type MergeRequest = { head: string; method: MergeMethod; subject: string; body: string };

/** Which of the labelled changes to list. */
export type Track = 'all' | 'author' | 'assigned';

/**
 * A forge that mirrors changes. Operations with a key are idempotent, so a killed step can be repeated. Failures are
 * PawlErrors: `unavailable` if a retry may work, `forbidden` or `unauthorized` if a person must act.
 */
export type Forge = {
  /** Display name. */
  name: string;
  /** Whether we may push branches and merge. */
  mayWrite(): Promise<boolean>;
  /** Lists open changes with our label. One that was just opened may be missing for a while. */
  list(): Promise<ForgeChange[]>;
  /** Returns one change, open or not. */
  view(ref: string): Promise<ForgeChange>;
  /** Opens a change with our label, or returns the one already open for the branch. */
  open(change: NewForgeChange): Promise<ForgeChange>;
  /** Adds and removes labels, and marks a draft as ready. */
  mark(ref: string, marks: { add?: string[]; remove?: string[]; ready?: boolean }): Promise<void>;
  /** Comments on a change, once per key. */
  comment(ref: string, body: string, key: string): Promise<void>;
  /** Merges a change if its head is still the checked one. */
  merge(ref: string, request: MergeRequest): Promise<ForgeMerge>;
  /** Closes a change if it is open. */
  close(ref: string): Promise<void>;
  /** The CI state of a branch's latest known commit; null if none is known. */
  branchChecks(branch: string): Promise<(ForgeChecks & { commit: string }) | null>;
  /** Opens an issue, once per key, and returns its URL. */
  openIssue(issue: { title: string; body: string; key: string }): Promise<string>;
};

/** The labels for our changes, and for changes that wait for a person. */
export const forgeLabels = { ours: 'pawl', needsPerson: 'needs-human-input' } as const;
