import { signalOfCompletion } from '@pawl/core/supervision/complete';
import { describeExit, judgeSession } from '@pawl/core/sessions/completion';
import { mayUseTool } from '@pawl/core/definitions/gate';
import { openToolsIn } from '@pawl/core/agents/history';
import type { ProviderPreset } from '@pawl/core/port/provider';
import type { Verdict } from '@pawl/core/sessions/completion';
import type { AgentFacts } from '@pawl/core/sessions/next-step';
import { mailAtEnd } from '@pawl/core/mail/mail-end';
import { directoryOf } from '@pawl/schema/place';
import { endsTurnByResult } from '@pawl/core/agents/work-mode';
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
import { findBreach, hasBudget } from './spending.ts';
import { reasonToGoOn, recordVerdict } from './verdict.ts';
import { uncommittedPlaces } from './uncommitted.ts';
import { sessionDirectory } from '../../platform/platform.ts';

/**
 * Ends a session whose main process has left: what it left behind is ended too, its output is stored to the last byte,
 * and then, in one transaction, the session and (unless it is asked for its signal once more) the run are over.
 */
export async function finishSession(
  platform: SessionPlatform,
  ingest: Ingest,
  { agent, session }: Pick<AgentFacts, 'agent' | 'session'>,
  how: { failure: string | null; lost: boolean; hung: boolean },
): Promise<void> {
  if (session === null) return;
  // Its own run, which need not be the agent's latest: that one may have begun while this one was being ended.
  const run = await runById(platform.store.db, session.runId);
  if (run === null) return;
  const { exitCode, claimed } = await processOf(platform, agent, session).end({ graceMs: platform.timing.stopGraceMs });
  await ingest.finish(session.id);
  crashPoint('finish.after_flush');
  const stored = (await sessionById(platform.store.db, session.id)) ?? session;
  const began = session.startedAt !== null || claimed;
  // A signal that lies there before the process began is the previous run's.
  const written = began ? await signalOf(platform, agent) : null;
  // Where it has left no file, what it said by `pawl complete` counts: perhaps a moment ago.
  const { completion } = (await agentById(platform.store.db, agent.id)) ?? agent;
  const signal = began ? (written?.signal ?? signalOfCompletion(completion, stored.result)) : null;
  // An agent that could still say how its work ended was not stopped by a limit.
  const ended = { ...stored, limitUntil: signal === null ? stored.limitUntil : null };
  const said = {
    began,
    signal: signal === null ? null : withoutSecrets(platform, signal),
    exitCode,
    completed: completion !== null,
    ...how,
  };
  const { verdict, limitUntil, fault } = await judge(platform, { agent, run, session: ended }, said);
  ended.limitUntil = limitUntil;
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
    await recordVerdict(tx, { agent, run, session: ended }, verdict);
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

/** A signal is written by the agent itself, and may say what nobody is to read. */
function withoutSecrets(platform: SessionPlatform, signal: Signal): Signal {
  return signalSchema.parse(redactValue(platform, signal)?.value);
}

/** A limit that should be over and is not holds for a while longer: clocks differ, and words on times are rounded. */
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
  /** `pawl complete` is on record. */
  completed: boolean;
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
  // Where another account may help, such silence is taken for a limit; else it is simply tried again.
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
    outcomeBefore: run.resultBefore,
    // `pawl complete` was admitted within the budget, and what it said then counts.
    breach: said.completed ? null : breach,
    stopRequested: agent.stopRequestedAt !== null,
    worktreeMissing: await isMissing(platform, agent),
    // Who may not write cannot say in a file how its work ended: its last word has to do.
    resumable: resumable && maySignal(run.definition),
    endsByResult: endsTurnByResult(agent.mode),
    interrupted: session.interruptedAt !== null,
    paused: session.pausedAt !== null,
    interruptions: planned('interrupted'),
    signalRequests: planned('missing-signal'),
  });
  return { verdict, limitUntil: said.signal === null ? limitUntil : null, fault };
}

/** Whether an agent may write its signal at all: with a tool that writes, or with any command. */
function maySignal(definition: Definition | null): boolean {
  if (definition === null) return true;
  return (
    mayUseTool(definition, 'Write', '.pawl/output/signal.json') || mayUseTool(definition, 'Bash', 'echo > signal.json')
  );
}

/** What kind of error ended a session: by the CLI's own word, else by what its last lines look like. */
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

/** When a limit ends, as the CLI's last word says, or the line of its log that tells of the limit. */
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

/** How many tracked files an agent left uncommitted that is to commit its work, in all its projects. A reviewer commits nothing. */
async function uncommittedIn(platform: SessionPlatform, agent: Agent): Promise<number> {
  if (agent.class !== 'ephemeral' || ['errand', 'review'].includes(agent.mode)) return 0;
  const places = await uncommittedPlaces(platform, agent);
  return places.reduce((sum, { changed }) => sum + changed, 0);
}

/** True when the directory that an agent works in, or a worktree of it, is not there any more. */
async function isMissing(platform: SessionPlatform, agent: Agent): Promise<boolean> {
  const paths = (await placesOf(platform.store.db, agent)).map((place) => place.agent.worktree);
  return [directoryOf(agent), ...paths].some((path) => path === null || !existsSync(path));
}

/** The signal that an agent left, from wherever in its directories it was written. */
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
