/** The kinds of what waits for a person. Programs that read the inbox go by these, so none is renamed. */
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
  /** Changes passed their checks, and something in a checkout or at the remote keeps the target branch from moving. */
  'held-up',
  /** A change conflicts with the target branch, and no agent is at work on it. */
  'conflict',
  /** A change fails its checks, and no agent continues it. */
  'ejected',
  /** A change weakens the gate, came back too often, or its review came to nothing. */
  'needs-human-input',
  /** A change passed its checks; a person decides whether it goes in. */
  'ready',
  /** Changes wait, and the project names no checks. */
  'no-checks',
  /** Changes wait, and the queue is paused. */
  'queue-paused',
  /** Changes wait, and the project's configuration cannot be read. */
  'configuration',
  /** Changes wait, and the queue cannot work: the remote cannot be reached, or the repository is gone. */
  'queue-stuck',
  /** The local target branch and the remote's have diverged. */
  'diverged',
  /** An agent whose definition has no Patch ended with commits, which were not proposed. */
  'withheld',
] as const;
export type InboxKind = (typeof inboxKinds)[number];
