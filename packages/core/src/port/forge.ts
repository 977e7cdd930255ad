import type { MergeMethod } from '@pawl/schema/change';

/** One run of somebody else's CI on a commit. */
export type ForgeCheck = { name: string; state: 'passed' | 'failed' | 'pending' | 'skipped'; url: string | null };

/** All of them. `none`: nothing has reported anything, which is not the same as having passed. */
export type ForgeChecks = { state: 'passed' | 'failed' | 'pending' | 'none'; checks: ForgeCheck[] };

/** A change as a forge has it: a pull request, a merge request. All text in it is foreign. */
export type ForgeChange = {
  /** What the forge calls it: a number, as text. */
  ref: string;
  url: string;
  branch: string;
  /** Whose repository has the branch, when it is not the one that the change goes to. */
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
  /** Who has asked for changes and not been satisfied since. */
  objectors: string[];
  mergeable: 'yes' | 'no' | 'unknown';
  /** Of exactly `head`. */
  checks: ForgeChecks;
  /** The commit by which the target branch has it, once it is merged. */
  mergedCommit: string | null;
};

export type NewForgeChange = {
  branch: string;
  /** Whose repository has the branch, when it is not the one that the change goes to. */
  fork: string | null;
  base: string;
  title: string;
  body: string;
  draft: boolean;
};

/** How an attempt to merge ended. */
export type ForgeMerge =
  | { do: 'merged'; commit: string }
  /** The forge has a merge queue of its own, which has taken it. */
  | { do: 'queued' }
  | { do: 'refused'; why: 'head-moved' | 'base-moved' | 'conflict' | 'draft' | 'policy'; reason: string };

export type MergeRequest = { head: string; method: MergeMethod; subject: string; body: string };

/** Which of the labelled changes a forge lists. */
export type Track = 'all' | 'author' | 'assigned';

/**
 * A place where changes live beside the repository. Whatever is said there twice with the same key is said once, so
 * that a step which was killed can be repeated. What cannot be done is a PawlError: `unavailable` when it may work later,
 * `forbidden` or `unauthorized` when a person has to do something.
 */
export type Forge = {
  /** Which forge this is, as people call it. */
  name: string;
  /** Whether we may push branches and merge. */
  mayWrite(): Promise<boolean>;
  /** The open changes that are marked as ours. One that was just opened may be missing for a while. */
  list(): Promise<ForgeChange[]>;
  /** One change, open or not. */
  view(ref: string): Promise<ForgeChange>;
  /** Opens a change, marked as ours; or gives the open one that the branch already has. */
  open(change: NewForgeChange): Promise<ForgeChange>;
  /** Adds and removes labels, and says that it is no draft any more. */
  mark(ref: string, marks: { add?: string[]; remove?: string[]; ready?: boolean }): Promise<void>;
  /** Says something about a change, once for each key. */
  comment(ref: string, body: string, key: string): Promise<void>;
  /** Merges a change, if its head still is the one that was checked. */
  merge(ref: string, request: MergeRequest): Promise<ForgeMerge>;
  /** Closes a change that is open; one that is not stays as it is. */
  close(ref: string): Promise<void>;
  /** What the CI of the forge says of the latest commit of a branch that it knows; null when it knows none. */
  branchChecks(branch: string): Promise<(ForgeChecks & { commit: string }) | null>;
  /** Opens an issue, once for each key, and gives its address. */
  openIssue(issue: { title: string; body: string; key: string }): Promise<string>;
};

/** The labels that mark a change as ours, and as one that waits for a person. */
export const forgeLabels = { ours: 'pawl', needsPerson: 'needs-human-input' } as const;
