/** The kinds of answers that the page keeps; each is the first word of its query keys. */
export const answerKinds = ['agents', 'agent', 'inbox', 'changes', 'change', 'queues', 'projects', 'events'] as const;
export type AnswerKind = (typeof answerKinds)[number];

/** What an event may change, by the first word of its type. */
const effects: Record<string, readonly AnswerKind[]> = {
  agent: ['agents', 'agent', 'inbox'],
  run: ['agents', 'agent', 'inbox'],
  session: ['agents', 'agent'],
  worktree: ['agents', 'agent'],
  budget: ['agents', 'agent', 'inbox'],
  account: ['agents', 'agent'],
  approval: ['inbox', 'agents', 'agent'],
  question: ['inbox', 'agents', 'agent'],
  permission: ['inbox', 'agents', 'agent'],
  change: ['changes', 'change', 'queues', 'inbox', 'agents'],
  check: ['changes', 'change', 'queues', 'inbox'],
  queue: ['changes', 'change', 'queues', 'inbox'],
  emergency: ['changes', 'queues', 'inbox'],
  project: ['projects', 'agents', 'queues', 'inbox'],
  history: ['agent'],
  mail: ['agent'],
  web_session: [],
  daemon: [],
};

/** The answers that are outdated after an event; all of them, if its kind is not known here. */
export function outdatedBy(type: string): readonly AnswerKind[] {
  const known = effects[type.split('.', 1)[0] ?? ''];
  return known === undefined ? answerKinds : [...known, 'events'];
}

/** How long to wait before the next attempt to connect, after so many failures. */
export function retryDelayMs(failures: number): number {
  return Math.min(10_000, 250 * 2 ** Math.min(failures, 6));
}
