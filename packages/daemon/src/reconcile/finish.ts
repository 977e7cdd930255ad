import { describeExit, judgeSession } from '@pawl/core/completion';
import { openToolsIn } from '@pawl/core/history';
import { cutText } from '@pawl/core/shorten';
import type { Verdict } from '@pawl/core/completion';
import type { AgentFacts } from '@pawl/core/next-step';
import { findSession } from '@pawl/host/find-session';
import { stopSession } from '@pawl/host/stop-session';
import { crashPoint } from '@pawl/schema/crash-point';
import type { Agent, Run, Session } from '@pawl/schema/record';
import type { Signal } from '@pawl/schema/signal';
import { appendMessage, lastSessionMessages, toolMessages } from '@pawl/store/messages';
import { endRun, runById } from '@pawl/store/runs';
import { endSession, sessionById, sessionsOf } from '@pawl/store/sessions';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { existsSync } from 'node:fs';
import type { Ingest } from '../ingest/ingest.ts';
import { readSignal } from '../signal-file.ts';
import type { Workshop } from '../workshop.ts';
import { identityOf, sessionDirectory } from '../workshop.ts';

/**
 * Ends a session whose main process has left: what it left behind is ended too, its output is stored to the last byte,
 * and then, in one transaction, the session and (unless it is asked for its signal once more) the run are over.
 */
export async function finishSession(
  shop: Workshop,
  ingest: Ingest,
  { agent, session }: Pick<AgentFacts, 'agent' | 'session'>,
  how: { failure: string | null; lost: boolean },
): Promise<void> {
  if (session === null) return;
  // Its own run, which need not be the agent's latest: that one may have begun while this one was being ended.
  const run = await runById(shop.store.db, session.runId);
  if (run === null) return;
  const dir = sessionDirectory(shop.home, session.id);
  const found = await findSession(dir);
  // The identity is the one on record: what the session's own directory says about it could be forged.
  await stopSession({ identity: identityOf(session), dir, marker: session.id, graceMs: shop.timing.stopGraceMs });
  await ingest.finish(session.id);
  crashPoint('finish.after_flush');
  const stored = (await sessionById(shop.store.db, session.id)) ?? session;
  const signal = agent.worktree === null ? null : await readSignal(agent.worktree);
  // An agent that could still say how its work ended was not stopped by a limit.
  const ended = { ...stored, limitUntil: signal === null ? stored.limitUntil : null };
  const exitCode = found.exit?.code ?? null;
  const said = { signal: signal?.signal ?? null, exitCode, ...how };
  const verdict = await judge(shop, { agent, run, session: ended }, said);
  await shop.store.write(async (tx) => {
    const endReason = verdict.next === 'go-on' ? lostReason : exitInWords(exitCode);
    if (!(await endSession(tx, session.id, { exitCode, endReason, limitUntil: ended.limitUntil }))) return;
    if (agent.endedAt === null) await closeTools(tx, agent, session);
    if (verdict.next === 'go-on') {
      tx.emit({ type: 'session.lost', projectId: agent.projectId, agentId: agent.id, data: { no: session.no } });
    }
    tx.emit({
      type: 'session.ended',
      projectId: agent.projectId,
      agentId: agent.id,
      data: { no: session.no, exitCode, reason: endReason, usage: ended.usage },
    });
    if (verdict.next === 'end') await recordEnd(tx, { agent, run, session: ended }, verdict);
  });
  crashPoint('finish.after_commit');
}

/** A tool call that got no answer gets one: a history in which it stands alone could not be gone on with. */
async function closeTools(tx: WriteTransaction, agent: Agent, session: Session): Promise<void> {
  const { open } = openToolsIn(await toolMessages(tx.db, agent.id, session.id));
  for (const toolId of open.keys()) {
    await appendMessage(tx, {
      agentId: agent.id,
      runId: session.runId,
      sessionId: session.id,
      kind: 'tool_result',
      content: 'The session ended before the tool did.',
      data: { toolId, isError: true },
    });
  }
}

/** How a session ended that was lost with the machine: its run goes on. */
export const lostReason = 'lost';

function exitInWords(exitCode: number | null): string {
  if (exitCode === null) return 'vanished';
  return exitCode === 0 ? 'exited' : describeExit(exitCode);
}

async function judge(
  shop: Workshop,
  { agent, run, session }: { agent: Agent; run: Run; session: Session },
  said: { signal: Signal | null; exitCode: number | null; failure: string | null; lost: boolean },
): Promise<Verdict> {
  const sessions = (await sessionsOf(shop.store.db, agent.id)).filter((each) => each.runId === run.id);
  const planned = (purpose: Session['purpose']) => sessions.filter((each) => each.purpose === purpose).length;
  const preset = shop.providers.find(agent.provider);
  return judgeSession({
    ...said,
    result: session.result,
    limitUntil: session.limitUntil,
    stopRequested: agent.stopRequestedAt !== null,
    worktreeMissing: agent.worktree === null || !existsSync(agent.worktree),
    resumable: preset !== null && preset.resume !== null && session.providerSessionId !== null,
    interrupted: session.interruptedAt !== null,
    paused: session.pausedAt !== null,
    interruptions: planned('interrupted'),
    signalRequests: planned('missing-signal'),
  });
}

/** How many messages of a session are looked at for its last words. */
const lastWords = 5;

/** How much of an agent's last words goes into facts, events and lists; its message has all of them. */
const detailCharacters = 2_000;

/** Ends a run, once, with the events that tell why; a late end of a run that is over changes nothing. */
export async function recordEnd(
  tx: WriteTransaction,
  { agent, run, session }: { agent: Agent; run: Run; session: Session | null },
  { outcome, detail, questions }: Extract<Verdict, { next: 'end' }>,
): Promise<void> {
  const shown = cutText(detail, detailCharacters);
  if (!(await endRun(tx, run.id, { outcome, detail: shown, questions }))) return;
  const about = { projectId: agent.projectId, agentId: agent.id };
  const kind = outcome === 'completed' ? 'assistant' : 'system';
  const last = session === null ? [] : await lastSessionMessages(tx.db, agent.id, session.id, lastWords);
  const said = last.findLast((message) => message.kind === kind);
  // Often its last words are what it said last in its output, and those are in the history already.
  if (detail !== '' && said?.content !== detail) {
    const sessionId = session?.id ?? null;
    await appendMessage(tx, { agentId: agent.id, runId: run.id, sessionId, kind, content: detail });
  }
  if (questions !== null) tx.emit({ type: 'agent.waiting', ...about, data: { questions: questions.length } });
  const limit = outcome === 'failed' ? (session?.limitUntil ?? null) : null;
  if (limit !== null) tx.emit({ type: 'agent.exhausted', ...about, data: { until: limit === 0 ? null : limit } });
  tx.emit({ type: 'run.ended', ...about, data: { status: outcome, detail: shown } });
}
