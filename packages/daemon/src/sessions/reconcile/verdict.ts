import { exhaustionEnd } from '@pawl/core/accounts/account';
import type { RunEnded, Verdict } from '@pawl/core/sessions/completion';
import { cutText } from '@pawl/core/shorten';
import { limits } from '@pawl/schema/limit';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { accountById, updateAccount } from '@pawl/store/projects/accounts';
import { appendMessage, lastSessionMessages } from '@pawl/store/sessions/messages';
import { endRun, noteOutcome, setWait } from '@pawl/store/sessions/runs';
import { retireIfDone, withdrawCompletion } from '../../registry/retirement.ts';
import { handOver } from '../../tasks/hand-over.ts';
import { taskAfterRun } from '../../tasks/tasks.ts';
import type { WriteTransaction } from '@pawl/store/write-transaction';

/** The end reason of a session whose run continues, by verdict; the next session is planned by it. */
const reasonsToGoOn: Partial<Record<Verdict['next'], string>> = {
  'go-on': 'lost',
  retry: 'error',
  wait: 'limit',
  'change-account': 'limit',
  'ask-to-commit': 'uncommitted',
  'ask-to-correct': 'bad-output',
};

/** The end reason for a verdict; null if the session simply ended. */
export function reasonToGoOn(verdict: Verdict): string | null {
  if (verdict.next === 'change-account' && verdict.cause === 'auth') return 'login';
  return reasonsToGoOn[verdict.next] ?? null;
}

/** The purpose of the next session of a run, by how the last one ended. */
export function purposeAfter(session: Session): Session['purpose'] {
  const purposes: Record<string, Session['purpose']> = {
    lost: 'interrupted',
    error: 'retry',
    limit: 'account',
    login: 'account',
    uncommitted: 'commit',
    'bad-output': 'output',
  };
  return purposes[session.endReason ?? ''] ?? 'missing-signal';
}

/** Records what a verdict means for the run: its end, or what it waits for. */
export async function recordVerdict(
  tx: WriteTransaction,
  facts: { agent: Agent; run: Run; session: Session; taker: string | null },
  verdict: Verdict,
): Promise<void> {
  const { agent, run, session } = facts;
  const about = { projectId: agent.projectId, agentId: agent.id };
  switch (verdict.next) {
    case 'end':
      await clearStrikes(tx, session);
      return recordEnd(tx, facts, verdict);
    case 'ask-for-signal':
    case 'ask-to-correct':
      return;
    case 'go-on':
      return tx.emit({ type: 'session.lost', ...about, data: { no: session.no } });
    case 'retry':
      return letWait(tx, facts, { until: tx.now + verdict.delayMs, for: 'retry', detail: verdict.detail });
    case 'wait':
      tx.emit({ type: 'agent.exhausted', ...about, data: { until: verdict.until } });
      return letWait(tx, facts, { until: verdict.until, for: 'account', detail: verdict.detail });
    case 'change-account':
      return setAside(tx, session, verdict);
    case 'ask-to-commit':
      return noteOutcome(tx, run.id, verdict.detail);
  }
}

/** Makes a run wait, and records why. */
export async function letWait(
  tx: WriteTransaction,
  { agent, run }: { agent: Agent; run: Run },
  wait: { until: number; for: NonNullable<Run['waitFor']>; detail: string },
): Promise<void> {
  const detail = cutText(wait.detail, limits.detailCharacters);
  await setWait(tx, run.id, { ...wait, detail });
  tx.emit({
    type: 'run.waiting',
    projectId: agent.projectId,
    agentId: agent.id,
    data: { reason: wait.for, until: wait.until, detail },
  });
}

/** Sets an account aside: until its limit ends or, if it was rejected, until a person has checked it. */
async function setAside(
  tx: WriteTransaction,
  session: Session,
  { cause, until, detail }: Extract<Verdict, { next: 'change-account' }>,
): Promise<void> {
  const account = session.accountId === null ? null : await accountById(tx.db, session.accountId);
  if (account === null) return;
  const { name, provider } = account;
  if (cause === 'auth') {
    const reason = cutText(detail, limits.detailCharacters);
    await updateAccount(tx, account.id, { invalidReason: reason });
    return tx.emit({ type: 'account.invalid', data: { account: name, provider, reason } });
  }
  // Several sessions may reach one limit at the same time: that is one strike.
  if (until === null && account.exhaustedUntil !== null && account.exhaustedUntil > tx.now) return;
  const end = exhaustionEnd(tx.now, until, account.strikes);
  await updateAccount(tx, account.id, { exhaustedUntil: end, strikes: account.strikes + (until === null ? 1 : 0) });
  tx.emit({ type: 'account.exhausted', data: { account: name, provider, until: end } });
}

/** A result proves that an account's limits are over. */
async function clearStrikes(tx: WriteTransaction, { accountId, result }: Session): Promise<void> {
  if (accountId !== null && result?.ok === true) await updateAccount(tx, accountId, { strikes: 0 });
}

/** How many messages of a session are searched for its final one. */
const lastWords = 5;

/** Ends a run, once, with the events that tell why; a late end of an ended run has no effect. */
export async function recordEnd(
  tx: WriteTransaction,
  { agent, run, session, taker = null }: { agent: Agent; run: Run; session: Session | null; taker?: string | null },
  { outcome, detail, questions, cause }: RunEnded,
): Promise<void> {
  const shown = cutText(detail, limits.detailCharacters);
  if (!(await endRun(tx, run.id, { outcome, detail: shown, questions, cause }))) return retireIfDone(tx, agent.id);
  const about = { projectId: agent.projectId, agentId: agent.id };
  const kind = outcome === 'completed' ? 'assistant' : 'system';
  const last = session === null ? [] : await lastSessionMessages(tx.db, agent.id, session.id, lastWords);
  const said = last.findLast((message) => message.kind === kind);
  // Its final text is often the last message in its output, which is already in the history.
  if (detail !== '' && said?.content !== detail) {
    const sessionId = session?.id ?? null;
    await appendMessage(tx, { agentId: agent.id, runId: run.id, sessionId, kind, content: detail });
  }
  await taskAfterRun(tx, agent, { outcome, detail, questions, cause });
  const left = outcome === 'completed' && questions === null ? (session?.result?.outcome ?? null) : null;
  if (left?.type === 'task') await handOver(tx, { agent, definition: run.definition }, left, taker);
  if (cause?.reason === 'budget')
    tx.emit({ type: 'budget.exceeded', ...about, data: { of: cause.of, detail: cause.detail } });
  if (questions !== null) tx.emit({ type: 'agent.waiting', ...about, data: { questions: questions.length } });
  const limit = outcome === 'failed' ? (session?.limitUntil ?? null) : null;
  if (limit !== null) tx.emit({ type: 'agent.exhausted', ...about, data: { until: limit === 0 ? null : limit } });
  const ended = { status: outcome, detail: shown, ...(left === null ? {} : { outcome: left }) };
  tx.emit({ type: 'run.ended', ...about, data: ended });
  if (questions !== null) return withdrawCompletion(tx, agent.id);
  return retireIfDone(tx, agent.id, outcome === 'failed' ? shown : null);
}
