import { signalOfCompletion, signalOfOutcome } from '@pawl/core/supervision/complete';
import { describeExit, exitCodeOfTurn, judgeSession } from '@pawl/core/sessions/completion';
import { mayUseTool } from '@pawl/core/definitions/gate';
import { openToolsIn } from '@pawl/core/agents/history';
import type { ProviderPreset } from '@pawl/core/port/provider';
import type { Verdict } from '@pawl/core/sessions/completion';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { mailAtEnd } from '@pawl/core/mail/mail-end';
import { directoryOf } from '@pawl/schema/place';
import { endsTurnByResult } from '@pawl/core/agents/work-mode';
import type { PlanOutput } from '@pawl/core/plan/output-file';
import { isPlanningMode } from '@pawl/core/plan/output-file';
import { lastOutput } from '@pawl/host/session/last-output';
import { faultIn, limitWordsIn } from '@pawl/providers/fault';
import { resetTimeIn } from '@pawl/providers/reset-time';
import { crashPoint } from '@pawl/schema/crash-point';
import { limits } from '@pawl/schema/limit';
import type { Definition } from '@pawl/schema/definition';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { signalSchema } from '@pawl/schema/signal';
import type { Signal } from '@pawl/schema/signal';
import type { Fault } from '@pawl/schema/stream-event';
import { agentById } from '@pawl/store/agents/agents';
import { appendMessage, toolMessages } from '@pawl/store/sessions/messages';
import { runById } from '@pawl/store/sessions/runs';
import { endSession, sessionById, sessionsOf } from '@pawl/store/sessions/sessions';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { existsSync } from 'node:fs';
import type { Ingest } from '../ingest/ingest.ts';
import { returnMail } from '../../mail/evidence.ts';
import { placesOf } from '../../platform/places.ts';
import type { FoundSignal } from '../../platform/signal-file.ts';
import { readSignal } from '../../platform/signal-file.ts';
import { redactValue } from '../../accounts/redaction.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { processOf } from './session-process.ts';
import { planOutput } from '../../tasks/plan-output.ts';
import { unansweredThreads } from '../../tasks/review-threads.ts';
import { recordProposal } from '../../tasks/proposals.ts';
import { settleObjects } from '../session-sandbox.ts';
import { findBreach, hasBudget } from './spending.ts';
import { reasonToGoOn, recordVerdict } from './verdict.ts';
import { uncommittedPlaces } from './uncommitted.ts';
import { projectOf, sessionDirectory } from '../../platform/platform.ts';

/**
 * Ends a session whose main process has exited: ends its strays, stores its output to the last byte, and then, in one
 * transaction, ends the session and (unless it is asked again for its signal) the run.
 */
export async function finishSession(
  platform: SessionPlatform,
  ingest: Ingest,
  { agent, session }: Pick<AgentFacts, 'agent' | 'session'>,
  how: { failure: string | null; lost: boolean; hung: boolean },
): Promise<void> {
  if (session === null) return;
  // The session's own run, not necessarily the agent's latest, which may have started meanwhile.
  const run = await runById(platform.store.db, session.runId);
  if (run === null) return;
  const { exitCode, claimed } = await processOf(platform, agent, session).end({ graceMs: platform.timing.stopGraceMs });
  await platform.proxy.revoke(session.id);

  await settleObjects(platform, agent);
  await ingest.finish(session.id);
  crashPoint('finish.after_flush');
  const stored = (await sessionById(platform.store.db, session.id)) ?? session;
  const { result } = stored;
  const countedCode = exitCodeOfTurn({ exitCode, result, interrupted: stored.interruptedAt !== null });
  const began = session.startedAt !== null || claimed;
  // A signal from before the process started belongs to the previous run.
  const written = began ? await signalOf(platform, agent) : null;
  // Without a file, a report by `pawl complete` counts, even a very recent one.
  const { completion } = (await agentById(platform.store.db, agent.id)) ?? agent;
  const reported = written?.signal ?? signalOfCompletion(completion, stored.result);
  const signal = began ? (reported ?? (countedCode === 0 ? signalOfOutcome(result) : null)) : null;
  const output =
    signal === null || signal.status === 'error'
      ? null
      : await planOutput(platform, agent, { isDone: signal.status === 'done' });
  const unanswered = signal?.status === 'done' ? await unansweredThreads(platform.store.db, agent) : [];
  // An agent that could still report how its work ended was not stopped by a limit.
  const ended = { ...stored, limitUntil: signal === null ? stored.limitUntil : null };
  const said = {
    began,
    signal: signal === null ? null : withoutSecrets(platform, signal),
    exitCode: countedCode,
    completed: completion !== null,
    complaints: (output?.complaints.length ?? 0) + unanswered.length,
    ...how,
  };
  const { verdict, limitUntil, fault } = await judge(platform, { agent, run, session: ended }, said);
  ended.limitUntil = limitUntil;
  const taker = await takerOf(platform, agent, stored.result);
  await platform.store.write(async (tx) => {
    const endReason = reasonToGoOn(verdict) ?? (began ? exitInWords(exitCode) : 'never began');
    if (!(await endSession(tx, session.id, { exitCode, endReason, limitUntil }))) return;
    if (agent.endedAt === null) await closeTools(tx, agent, session);
    tx.emit({
      type: 'session.ended',
      projectId: agent.projectId,
      agentId: agent.id,
      data: { no: session.no, exitCode, reason: endReason, usage: ended.usage },
    });
    const isWanted = (await runById(tx.db, run.id))?.outcome === null;
    await returnMail(
      tx,
      { agent, session, prompts: platform.prompts },
      mailAtEnd(verdict, ended, { ...said, fault, isWanted }),
    );
    await recordVerdict(tx, { agent, run, session: ended, taker }, verdict);
    if (isWanted && output !== null) await proposeOutput(tx, platform, agent, verdict, output);
  });
  crashPoint('finish.after_commit');
}

/** Turns the output of a planning agent into a proposal when its run ends. */
async function proposeOutput(
  tx: WriteTransaction,
  platform: SessionPlatform,
  agent: Agent,
  verdict: Verdict,
  output: PlanOutput,
): Promise<void> {
  if (verdict.next !== 'end' || verdict.outcome !== 'completed') return;
  const said = verdict.questions?.[0]?.question ?? verdict.detail;
  const kept = redactValue(platform, { output, said })?.value as { output: PlanOutput; said: string };
  await recordProposal(tx, agent, kept.output, kept.said);
}

/** The definition for a task that the agent hands over: the first main with Patch; null without such a task. */
async function takerOf(platform: SessionPlatform, agent: Agent, result: Session['result']): Promise<string | null> {
  if (result?.outcome?.type !== 'task' || agent.projectId === null) return null;
  const { definitions } = await platform.definitions.load(await projectOf(platform.store, agent));
  const fitting = [...definitions.values()].filter(
    ({ kind, policy }) => kind === 'main' && policy.allow.includes('Patch'),
  );
  return fitting.map(({ id }) => id).toSorted((a, b) => a.localeCompare(b))[0] ?? null;
}

/** Adds a result to a tool call without one: otherwise the history could not be resumed. */
async function closeTools(tx: WriteTransaction, agent: Agent, session: Session): Promise<void> {
  const { open } = openToolsIn(await toolMessages(tx.db, agent.id, session.id));
  for (const toolId of open.keys()) {
    await appendMessage(tx, {
      agentId: agent.id,
      runId: session.runId,
      sessionId: session.id,
      kind: 'tool_result',
      content:
        'The session ended before the tool did. It may have taken effect, partly or completely. Check before you repeat it.',
      data: { toolId, isError: true },
    });
  }
}

/** The agent writes its signal itself, so it may contain secrets. */
function withoutSecrets(platform: SessionPlatform, signal: Signal): Signal {
  return signalSchema.parse(redactValue(platform, signal)?.value);
}

/** Extends a limit that should be over and is not: clocks differ, and reported times are rounded. */
function notPast(until: number | null, now: number): number | null {
  return until === null || until === 0 || until > now ? until : now + limits.pastLimitMs;
}

function exitInWords(exitCode: number | null): string {
  if (exitCode === null) return 'vanished';
  return exitCode === 0 ? 'exited' : describeExit(exitCode);
}

/** Facts about a session's end beside its row. */
type EndWords = {
  began: boolean;
  signal: Signal | null;
  exitCode: number | null;
  /** `pawl complete` is recorded. */
  completed: boolean;
  /** Faults in the output of a planning agent, and review threads without an answer. */
  complaints: number;
  failure: string | null;
  lost: boolean;
  hung: boolean;
};

async function judge(
  platform: SessionPlatform,
  { agent, run, session }: { agent: Agent; run: Run; session: Session },
  said: EndWords,
): Promise<{ verdict: Verdict; limitUntil: number | null; fault: Fault | null }> {
  const sessions = (await sessionsOf(platform.store.db, agent.id)).filter((each) => each.runId === run.id);
  const planned = (purpose: Session['purpose']) => sessions.filter((each) => each.purpose === purpose).length;
  const preset = platform.providers.find(agent.provider);
  const resumable = preset !== null && preset.resume !== null && session.providerSessionId !== null;
  // Treat such silence as a limit if another account may help; otherwise simply retry.
  const hidden = said.hung && preset?.silence.meansLimit === true && session.accountId !== null;
  const fault = hidden ? 'limit' : preset === null ? null : await faultOf(platform, session, preset, said.exitCode);
  const known = session.limitUntil === 0 || (session.limitUntil === null && fault === 'limit');
  const told = known ? ((await toldReset(platform, session, preset)) ?? 0) : session.limitUntil;
  const limitUntil = notPast(told, platform.clock());
  const breach = hasBudget(platform, agent) ? await findBreach(platform, agent, run) : null;
  const asks =
    resumable && breach === null && said.signal?.status === 'done' && planned('commit') < limits.commitRequests;
  const verdict = judgeSession({
    ...said,
    result: session.result,
    limitUntil: said.signal === null ? limitUntil : null,
    fault,
    retries: planned('retry'),
    limitWaits: planned('account'),
    hasAccount: session.accountId !== null,
    uncommitted: asks ? await uncommittedIn(platform, agent) : 0,
    complaints: resumable && breach === null && planned('output') < limits.outputRequests ? said.complaints : 0,
    outcomeBefore: run.resultBefore,
    // `pawl complete` was accepted within the budget, so it counts.
    breach: said.completed ? null : breach,
    stopRequested: agent.stopRequestedAt !== null,
    worktreeMissing: await isMissing(platform, agent),
    // An agent that may not write cannot leave a signal file, so its last message must do.
    resumable: resumable && maySignal(run.definition),
    endsByResult: endsTurnByResult(agent.mode),
    interrupted: session.interruptedAt !== null,
    paused: session.pausedAt !== null,
    interruptions: planned('interrupted'),
    signalRequests: planned('missing-signal'),
  });
  return { verdict, limitUntil: said.signal === null ? limitUntil : null, fault };
}

/** True if an agent may write its signal: with a writing tool, or with any command. */
function maySignal(definition: Definition | null): boolean {
  if (definition === null) return true;
  return (
    mayUseTool(definition, 'Write', '.pawl/output/signal.json') || mayUseTool(definition, 'Bash', 'echo > signal.json')
  );
}

/** The kind of error that ended a session: as reported by the CLI, else by its last lines. */
async function faultOf(
  platform: SessionPlatform,
  session: Session,
  preset: ProviderPreset,
  exitCode: number | null,
): Promise<Fault | null> {
  if (session.result?.ok === true || (session.result === null && exitCode === 0)) return null;
  if (session.result !== null && session.result.fault !== null && session.result.fault !== 'other')
    return session.result.fault;
  const words = [session.result?.text ?? '', await lastOutput(sessionDirectory(platform.home, session.id), 'err')];
  return faultIn(words.join('\n'), preset.patterns);
}

/** When a limit ends, by the CLI's result or its log line about the limit. */
async function toldReset(
  platform: SessionPlatform,
  session: Session,
  preset: ProviderPreset | null,
): Promise<number | null> {
  if (preset === null) return null;
  const { patterns } = preset;
  const logged = await lastOutput(sessionDirectory(platform.home, session.id), 'err');
  return (
    resetTimeIn(session.result?.text ?? '', platform.clock(), patterns.reset) ??
    resetTimeIn(limitWordsIn(logged, patterns) ?? '', platform.clock(), patterns.reset)
  );
}

/**
 * The number of tracked files that an agent left uncommitted, in all its projects; 0 for one that commits nothing, such
 * as a reviewer.
 */
async function uncommittedIn(platform: SessionPlatform, agent: Agent): Promise<number> {
  if (agent.class !== 'ephemeral' || ['errand', 'review'].includes(agent.mode) || isPlanningMode(agent.mode)) return 0;
  const places = await uncommittedPlaces(platform, agent);
  return places.reduce((sum, { changed }) => sum + changed, 0);
}

/** True if an agent's working directory, or a worktree in it, is gone. */
async function isMissing(platform: SessionPlatform, agent: Agent): Promise<boolean> {
  const paths = (await placesOf(platform.store.db, agent)).map((place) => place.agent.worktree);
  return [directoryOf(agent), ...paths].some((path) => path === null || !existsSync(path));
}

/** The signal that an agent left, from any of its directories. */
async function signalOf(platform: SessionPlatform, agent: Agent): Promise<FoundSignal | null> {
  const directory = directoryOf(agent);
  if (directory === null) return null;
  const places = await placesOf(platform.store.db, agent);
  const found = await readSignal(
    directory,
    places.map((place) => place.agent.worktree ?? directory),
  );
  if (found !== null && !found.isPlaced)
    platform.log.warn(
      { agent: agent.alias, path: found.path },
      'the signal is not in the directory that the agent runs in',
    );
  return found;
}
