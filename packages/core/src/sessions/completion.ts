import { limits } from '@pawl/schema/limit';
import type { ProviderResult, Run, RunCause } from '@pawl/schema/record';
import type { Breach } from '../accounts/budget.ts';
import { breachInWords } from '../accounts/budget.ts';
import type { Signal } from '@pawl/schema/signal';
import type { Fault } from '@pawl/schema/stream-event';

/** Everything that is known when a session's process has left and its output is stored to the last byte. */
export type EndedSession = {
  /** Whether its process ever began. Nothing that lies in the worktree is the word of a process that did not. */
  began: boolean;
  signal: Signal | null;
  result: ProviderResult | null;
  /** Null when nobody recorded it: the shim was killed, or the machine went down. */
  exitCode: number | null;
  limitUntil: number | null;
  stopRequested: boolean;
  /** A person asked the agent to leave off what it did. */
  interrupted: boolean;
  /** It ran when the last daemon ended and was gone, without a word, when this one came: the machine went down. */
  lost: boolean;
  /** It was halted by a person. */
  paused: boolean;
  /** How often this run has gone on after it was lost. */
  interruptions: number;
  /** Why the session could not be gone on with, when that is why it ended. */
  failure: string | null;
  worktreeMissing: boolean;
  /** Whether the provider can go on with this conversation. */
  resumable: boolean;
  /** The provider's own result ends a turn; no signal is asked for. */
  endsByResult: boolean;
  /** How often this run was already asked for its missing signal. */
  signalRequests: number;
  /** What kind of error it was, when it ended with one and that can be told. */
  fault: Fault | null;
  /** How often this run has gone on after an error, and after a limit. */
  retries: number;
  limitWaits: number;
  /** It printed nothing for so long that it was ended. */
  hung: boolean;
  /** Whether it used credentials that Pawl keeps, so that there may be others. */
  hasAccount: boolean;
  /** Tracked files that it left uncommitted though it says that it is done, where it can be asked to commit them. */
  uncommitted: number;
  /** What the run came to before it was asked to commit what it had left; null when it was not asked. */
  outcomeBefore: string | null;
  /** A budget that is used up. Only one that was passed outranks the agent's word that it is done. */
  breach: Breach | null;
};

export type Verdict =
  | { next: 'end'; outcome: NonNullable<Run['outcome']>; detail: string; questions: Run['questions']; cause?: RunCause }
  | { next: 'ask-for-signal' }
  | { next: 'go-on' }
  /** The same once more, after a pause. */
  | { next: 'retry'; delayMs: number; detail: string }
  /** Its account has reached a limit (until then, where that is known) or is not accepted: on with another, or wait. */
  | { next: 'change-account'; cause: 'limit' | 'auth'; until: number | null; detail: string }
  /** Wait for the end of a limit that concerns the CLI's own login. */
  | { next: 'wait'; until: number; detail: string }
  | { next: 'ask-to-commit'; detail: string };

export type RunEnded = Extract<Verdict, { next: 'end' }>;

/**
 * What the end of a session means for its run. Authority, from the highest: the agent's signal that it is done (unless it
 * passed its budget), a stop that was asked for, its other signals, a budget that is used up, the provider's usage limit, a
 * missing worktree, an interruption that was asked for, its result event, the exit code. A session that was lost with the machine goes on, one that a passing error ended is
 * tried again, and a clean end without a signal is asked about, each a bounded number of times before it counts as failed.
 */
export function judgeSession(ended: EndedSession): Verdict {
  if (!ended.began) return judgeUnbegun(ended);
  if (ended.signal !== null && !(ended.stopRequested && ended.signal.status !== 'done'))
    return judgeSignal(ended.signal, ended);
  if (ended.stopRequested) return end('cancelled', 'stopped on request');
  // It was asked for one thing only, after it had said how its work ended; that counts, whatever came of the asking.
  if (ended.outcomeBefore !== null) return endDone(ended.outcomeBefore, ended.breach);
  if (ended.breach !== null && !endedByResult(ended)) return endOverBudget(ended.breach);
  if (ended.failure !== null) return end('failed', ended.failure);
  if (ended.limitUntil !== null || ended.fault === 'limit') return judgeLimit(ended);
  if (ended.worktreeMissing) return end('failed', 'the worktree was deleted while the agent ran');
  if (ended.interrupted && (ended.exitCode !== 0 || ended.result?.ok !== true))
    return end('cancelled', 'interrupted on request');
  if (ended.hung) return judgeFault(ended, 'it printed nothing for too long');
  if (ended.exitCode === null && ended.result === null) return judgeVanished(ended);
  if (ended.result !== null && !ended.result.ok)
    return judgeFault(ended, ended.result.text || 'the provider reported an error');
  if (ended.exitCode !== null && ended.exitCode !== 0) return judgeFault(ended, describeExit(ended.exitCode));
  if (ended.endsByResult) return endDone(ended.result?.text ?? '', ended.breach);
  if (!ended.resumable) {
    return ended.result === null
      ? end('failed', 'it ended without a signal or a result')
      : endDone(ended.result.text, ended.breach);
  }
  if (ended.signalRequests < limits.signalRetries) return { next: 'ask-for-signal' };
  return end('failed', `it gave no signal, though it was asked ${limits.signalRetries} times`);
}

/** Whether the provider's result alone says that the work is done: no signal is expected. */
function endedByResult({ result, exitCode, endsByResult, resumable }: EndedSession): boolean {
  return result?.ok === true && exitCode === 0 && (endsByResult || !resumable);
}

/** A session whose process never began completes nothing: it was stopped, or it failed with the reason. */
function judgeUnbegun({ stopRequested, outcomeBefore, failure }: EndedSession): Verdict {
  if (stopRequested) return end('cancelled', 'stopped on request');
  // The run itself was over; this session was only to commit the rest.
  if (outcomeBefore !== null) return end('completed', outcomeBefore);
  return end('failed', failure ?? 'its process never began');
}

const limitWords = 'the provider reported a usage limit';

function judgeLimit({ hasAccount, limitUntil, result, limitWaits }: EndedSession): Verdict {
  const until = limitUntil === null || limitUntil === 0 ? null : limitUntil;
  const detail = result?.ok === false && result.text !== '' ? `${limitWords}: ${result.text}` : limitWords;
  if (limitWaits >= limits.limitWaits) return end('failed', `${detail} (${limitWaits} times)`, { reason: 'limit' });
  if (hasAccount) return { next: 'change-account', cause: 'limit', until, detail };
  return until === null ? end('failed', detail, { reason: 'limit' }) : { next: 'wait', until, detail };
}

/**
 * An error that passes is tried again after 1, 2 and 4 seconds. A login that is not accepted is tried once more, since a CLI
 * may have renewed it meanwhile; then it wants another account.
 */
function judgeFault(ended: EndedSession, detail: string): Verdict {
  if (ended.fault === 'auth') {
    if (ended.retries === 0) return { next: 'retry', delayMs: limits.retryMs, detail };
    if (ended.hasAccount) return { next: 'change-account', cause: 'auth', until: null, detail };
    return end('failed', detail);
  }
  if (!ended.hung && ended.fault !== 'transient') return end('failed', detail);
  if (ended.retries < limits.faultRetries)
    return { next: 'retry', delayMs: limits.retryMs * 2 ** ended.retries, detail };
  return end('failed', `${detail} (tried ${limits.faultRetries + 1} times)`);
}

/** Nobody knows how it ended. Whoever was lost with the machine goes on; who vanished by itself would do so again. */
function judgeVanished(ended: EndedSession): Verdict {
  if (!ended.lost) return end('failed', 'the process vanished without an exit code');
  // Whoever halted it did not want it to go on by itself.
  if (ended.paused) return end('cancelled', 'it was paused when it was lost with the machine');
  if (ended.interruptions < limits.interruptions) return { next: 'go-on' };
  return end('failed', `it was lost with the machine ${limits.interruptions + 1} times`);
}

/** An exit code in words: above 128 it is the signal that ended the process. */
export function describeExit(code: number): string {
  return code > 128 && code <= 128 + 64 ? `it was ended by signal ${code - 128}` : `it exited with code ${code}`;
}

function judgeSignal(signal: Signal, { uncommitted, outcomeBefore, stopRequested, breach }: EndedSession): Verdict {
  switch (signal.status) {
    case 'done': {
      const detail = outcomeBefore ?? signal.result ?? '';
      const ask = uncommitted > 0 && outcomeBefore === null && !stopRequested;
      return ask ? { next: 'ask-to-commit', detail } : endDone(detail, breach);
    }
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

/**
 * The end of a run whose agent says that it is done: within its budget, or beyond it. A project's budget, which others
 * may have used up, does not undo finished work.
 */
export function endDone(detail: string, breach: Breach | null): RunEnded {
  return breach?.passed === true && breach.of !== 'project' ? endOverBudget(breach) : end('completed', detail);
}

/** The end of a run that may use no more. */
export function endOverBudget({ of, detail }: Breach): RunEnded {
  return end('failed', breachInWords({ of, detail }), { reason: 'budget', of, detail });
}

function end(outcome: NonNullable<Run['outcome']>, detail: string, cause?: RunCause): RunEnded {
  return { next: 'end', outcome, detail, questions: null, ...(cause === undefined ? {} : { cause }) };
}
