/** The kinds of inbox items. Programs depend on them, so none is renamed. */
export const inboxKinds = [
  /** The target branch fails its checks, so nothing is merged. */
  'emergency',
  /** A run ended with questions. */
  'questions',
  /** An agent waits for an answer. */
  'question',
  /** An agent waits for a permission. */
  'permission',
  /** A budget is used up, so an agent stopped. */
  'over-budget',
  /** Changes passed their checks, but a checkout or the remote keeps the target branch from moving. */
  'held-up',
  /** A change conflicts with the target branch, and no agent works on it. */
  'conflict',
  /** A change fails its checks, and no agent continues it. */
  'ejected',
  /** A change weakens the gate, was returned too often, or its review failed. */
  'needs-human-input',
  /** A change passed its checks; a person decides whether to merge it. */
  'ready',
  /** Changes wait, and the project has no checks. */
  'no-checks',
  /** Changes wait, and the queue is paused. */
  'queue-paused',
  /** Changes wait, and the project's configuration cannot be read. */
  'configuration',
  /** Changes wait, and the queue cannot work: the remote is unreachable, or the repository is gone. */
  'queue-stuck',
  /** The local target branch and the remote's have diverged. */
  'diverged',
  /** An agent whose definition has no Patch ended with commits, which were not proposed. */
  'withheld',
] as const;
export type InboxKind = (typeof inboxKinds)[number];
