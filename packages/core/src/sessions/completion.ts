import { limits } from '@pawl/schema/limit';
import type { ProviderResult, Run, RunCause } from '@pawl/schema/record';
import type { Breach } from '../accounts/budget.ts';
import { breachInWords } from '../accounts/budget.ts';
import type { Signal } from '@pawl/schema/signal';
import type { Fault } from '@pawl/schema/stream-event';

/** The facts about a session whose process has exited and whose output is fully stored. */
export type EndedSession = {
  /** Whether its process ever started. If not, files in the worktree are not its own. */
  began: boolean;
  signal: Signal | null;
  result: ProviderResult | null;
  /** Null if unknown: the shim was killed, or the machine went down. */
  exitCode: number | null;
  limitUntil: number | null;
  stopRequested: boolean;
  /** A person interrupted the agent. */
  interrupted: boolean;
  /**
   * It was running when the last daemon ended, and was gone without an exit code when this one started: the machine
   * went down.
   */
  lost: boolean;
  paused: boolean;
  /** How often this run was resumed after it was lost. */
  interruptions: number;
  /** Why the session could not continue, if that ended it. */
  failure: string | null;
  worktreeMissing: boolean;
  /** Whether the provider can resume this conversation. */
  resumable: boolean;
  /** The provider's own result ends a turn; no signal is required. */
  endsByResult: boolean;
  /** How often this run was asked for its missing signal. */
  signalRequests: number;
  /** The kind of error that ended it, if known. */
  fault: Fault | null;
  /** How often this run was retried after an error, and after a limit. */
  retries: number;
  limitWaits: number;
  /** It was ended because it printed nothing for too long. */
  hung: boolean;
  /** Whether it used an account of Pawl's, so that there may be others. */
  hasAccount: boolean;
  /** Tracked files left uncommitted although it says it is done, if it can be asked to commit them. */
  uncommitted: number;
  /** Faults in the output of a planning agent, if it can be asked to correct them. */
  complaints: number;
  /** The run's result before it was asked to commit leftovers; null if it was not asked. */
  outcomeBefore: string | null;
  /** A used-up budget. Only an exceeded one outranks the agent's own "done". */
  breach: Breach | null;
};

export type Verdict =
  | { next: 'end'; outcome: NonNullable<Run['outcome']>; detail: string; questions: Run['questions']; cause?: RunCause }
  | { next: 'ask-for-signal' }
  | { next: 'go-on' }
  /** Try again, after a delay. */
  | { next: 'retry'; delayMs: number; detail: string }
  /** Its account reached a limit (until then, if known) or was rejected: switch accounts, or wait. */
  | { next: 'change-account'; cause: 'limit' | 'auth'; until: number | null; detail: string }
  /** Wait for the end of a limit on the CLI's own login. */
  | { next: 'wait'; until: number; detail: string }
  | { next: 'ask-to-commit'; detail: string }
  | { next: 'ask-to-correct' };

export type RunEnded = Extract<Verdict, { next: 'end' }>;

/**
 * Decides what a session's end means for its run. In order of authority: the agent's "done" signal (unless it exceeded
 * its budget), a requested stop, its other signals, a used-up budget, a usage limit, a missing worktree, a requested
 * interruption, the provider's result, the exit code. A session lost with the machine is resumed, one with a transient
 * error retried, and one that ended cleanly without a signal asked for it, each a limited number of times before the
 * run fails.
 */
export function judgeSession(ended: EndedSession): Verdict {
  if (!ended.began) return judgeUnbegun(ended);
  if (ended.signal !== null && !(ended.stopRequested && ended.signal.status !== 'done'))
    return judgeSignal(ended.signal, ended);
  if (ended.stopRequested) return end('cancelled', 'stopped on request');
  // It was only asked to commit, after its result was known; that result stands, whatever came of the request.
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
  return end('failed', `it gave no signal, although it was asked ${limits.signalRetries} times`);
}

/** Whether the provider's result alone means done: no signal is expected. */
function endedByResult({ result, exitCode, endsByResult, resumable }: EndedSession): boolean {
  return result?.ok === true && exitCode === 0 && (endsByResult || !resumable);
}

/** A session whose process never started completes nothing: it was stopped, or it failed. */
function judgeUnbegun({ stopRequested, outcomeBefore, failure }: EndedSession): Verdict {
  if (stopRequested) return end('cancelled', 'stopped on request');
  // The run was already over; this session was only to commit the rest.
  if (outcomeBefore !== null) return end('completed', outcomeBefore);
  return end('failed', failure ?? 'its process never started');
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
 * Retries a transient error after 1, 2 and 4 seconds. Retries a rejected login once, since a CLI may have renewed it
 * meanwhile; then switches accounts.
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

/**
 * How it ended is unknown. A session lost with the machine is resumed; one that vanished by itself would do so again.
 */
function judgeVanished(ended: EndedSession): Verdict {
  if (!ended.lost) return end('failed', 'the process vanished without an exit code');
  // It was paused, so it must not resume by itself.
  if (ended.paused) return end('cancelled', 'it was paused when it was lost with the machine');
  if (ended.interruptions < limits.interruptions) return { next: 'go-on' };
  return end('failed', `it was lost with the machine ${limits.interruptions + 1} times`);
}

/**
 * The exit code that counts. A signal that ends a process after its turn has ended well says nothing about the turn,
 * unless somebody interrupted it: the process did not exit by itself, and was ended.
 */
export function exitCodeOfTurn({ exitCode, result, interrupted }: ExitFacts): number | null {
  return exitCode !== null && isSignal(exitCode) && result?.ok === true && !interrupted ? 0 : exitCode;
}

type ExitFacts = Pick<EndedSession, 'exitCode' | 'result' | 'interrupted'>;

const isSignal = (code: number) => code > 128 && code <= 128 + 64;

/** Describes an exit code; above 128 it is the signal that ended the process. */
export function describeExit(code: number): string {
  return isSignal(code) ? `it was ended by signal ${code - 128}` : `it exited with code ${code}`;
}

function judgeSignal(signal: Signal, ended: EndedSession): Verdict {
  const { uncommitted, outcomeBefore, stopRequested, breach } = ended;
  if (signal.status !== 'error' && ended.complaints > 0 && !stopRequested) return { next: 'ask-to-correct' };
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

/** Gives questions unique ids, so that each answer fits one: a missing or duplicate id becomes a number. */
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
 * Ends a run whose agent says it is done, within its budget or beyond it. A project's budget, which others may have
 * used up, does not undo finished work.
 */
export function endDone(detail: string, breach: Breach | null): RunEnded {
  return breach?.passed === true && breach.of !== 'project' ? endOverBudget(breach) : end('completed', detail);
}

/** Ends a run over its budget. */
export function endOverBudget({ of, detail }: Breach): RunEnded {
  return end('failed', breachInWords({ of, detail }), { reason: 'budget', of, detail });
}

function end(outcome: NonNullable<Run['outcome']>, detail: string, cause?: RunCause): RunEnded {
  return { next: 'end', outcome, detail, questions: null, ...(cause === undefined ? {} : { cause }) };
}
