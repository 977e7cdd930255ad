import { limits } from '@pawl/schema/limit';
import type { ProviderResult, Run } from '@pawl/schema/record';
import type { Signal } from '@pawl/schema/signal';

/** Everything that is known when a session's process has left and its output is stored to the last byte. */
export type EndedSession = {
  signal: Signal | null;
  result: ProviderResult | null;
  /** Null when nobody recorded it: the shim was killed, or the machine went down. */
  exitCode: number | null;
  limitUntil: number | null;
  stopRequested: boolean;
  /** Why the session could not be gone on with, when that is why it ended. */
  failure: string | null;
  worktreeMissing: boolean;
  /** Whether the provider can go on with this conversation. */
  resumable: boolean;
  /** How often this run was already asked for its missing signal. */
  signalRequests: number;
};

export type Verdict =
  | { next: 'end'; outcome: NonNullable<Run['outcome']>; detail: string; questions: Run['questions'] }
  | { next: 'ask-for-signal' };

/**
 * What the end of a session means for its run. Authority, from the highest: the agent's signal that it is done, a stop
 * that was asked for, its other signals, the provider's usage limit, a missing worktree, its result event, the exit code.
 * A clean end without a signal is asked about, a bounded number of times, before it counts as failed.
 */
export function judgeSession(ended: EndedSession): Verdict {
  if (ended.signal !== null && !(ended.stopRequested && ended.signal.status !== 'done'))
    return judgeSignal(ended.signal);
  if (ended.stopRequested) return end('cancelled', 'stopped on request');
  if (ended.failure !== null) return end('failed', ended.failure);
  if (ended.limitUntil !== null) return end('failed', 'the provider reported a usage limit');
  if (ended.worktreeMissing) return end('failed', 'the worktree was deleted while the agent ran');
  if (ended.result !== null && !ended.result.ok)
    return end('failed', ended.result.text || 'the provider reported an error');
  if (ended.exitCode === null) return end('failed', 'the process vanished without an exit code');
  if (ended.exitCode !== 0) return end('failed', describeExit(ended.exitCode));
  if (!ended.resumable) {
    return ended.result === null
      ? end('failed', 'it ended without a signal or a result')
      : end('completed', ended.result.text);
  }
  if (ended.signalRequests < limits.signalRetries) return { next: 'ask-for-signal' };
  return end('failed', `it gave no signal, though it was asked ${limits.signalRetries} times`);
}

/** An exit code in words: above 128 it is the signal that ended the process. */
export function describeExit(code: number): string {
  return code > 128 && code <= 128 + 64 ? `it was ended by signal ${code - 128}` : `it exited with code ${code}`;
}

function judgeSignal(signal: Signal): Verdict {
  switch (signal.status) {
    case 'done':
      return end('completed', signal.result ?? '');
    case 'error':
      return end('failed', signal.error ?? 'the agent reported an error');
    case 'questions':
      return { next: 'end', outcome: 'completed', detail: 'questions', questions: withOwnIds(signal.questions) };
  }
}

/** Questions under ids of their own, so that an answer fits exactly one: a missing or repeated id becomes a number. */
function withOwnIds(questions: NonNullable<Run['questions']>): NonNullable<Run['questions']> {
  const given = new Set(questions.map(({ id }) => id));
  const used = new Set<string>();
  return questions.map(({ id, question }, index) => {
    let own = id;
    for (let no = index + 1; own === '' || used.has(own); no++) own = given.has(`q${no}`) ? '' : `q${no}`;
    used.add(own);
    return { id: own, question };
  });
}

function end(outcome: NonNullable<Run['outcome']>, detail: string): Verdict {
  return { next: 'end', outcome, detail, questions: null };
}
