import { endDone, endOverBudget } from '@pawl/core/sessions/completion';
import type { ProviderPreset } from '@pawl/core/port/provider';
import type { TakeUp } from '@pawl/core/sessions/conversation';
import { pastOfAgent, takeUp } from '@pawl/core/sessions/conversation';
import type { Dependency, Errand, PlanInput } from '@pawl/core/sessions/input-files';
import { inputFiles } from '@pawl/core/sessions/input-files';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { nextStep } from '@pawl/core/sessions/next-step';
import { endsTurnByResult } from '@pawl/core/agents/work-mode';
import { findSession } from '@pawl/host/session/find-session';
import type { Start } from '@pawl/host/supervise/supervise';
import { requireInstalled } from '@pawl/providers/detect';
import { crashPoint } from '@pawl/schema/crash-point';
import { newId } from '@pawl/schema/id';
import type { Account, Agent, Run, Session } from '@pawl/schema/record';
import { noUsage } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { hasSpokenSince } from '@pawl/store/sessions/messages';
import { insertSession, updateSession } from '@pawl/store/sessions/sessions';
import { taskById } from '@pawl/store/projects/tasks';
import { randomUUID } from 'node:crypto';
import { followTarget } from './follow-target.ts';
import { writeInput } from '../input-writer.ts';
import { planInput } from '../../tasks/plan-work.ts';
import { dependenciesOf } from '../../tasks/tasks.ts';
import { workingDirectory } from '../../platform/places.ts';
import { clearSignals } from '../../platform/signal-file.ts';
import { startPath } from '../../platform/search-path.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { sessionDirectory } from '../../platform/platform.ts';
import { accountFor, forkReachable, reachable, useAccount } from './account-choice.ts';
import { verifyPlaces } from './make-worktree.ts';
import { findBreach, hasBudget } from './spending.ts';
import { sessionStart } from './session-launch.ts';
import { processOf } from './session-process.ts';
import { pastOf } from './session-prompt.ts';
import { resumableSessions } from './resumable-sessions.ts';
import { purposeAfter, recordEnd } from './verdict.ts';

/** Records the agent's next session. Its number is one more than the last. False: nothing is possible now. */
export async function planSession(platform: SessionPlatform, { agent, run, session }: AgentFacts): Promise<boolean> {
  if (run === null) return false;
  if (await endIfSpent(platform, { agent, run, session })) return true;
  const account = await accountFor(platform, agent, run);
  // It must wait for an account, which is recorded now.
  if (account === undefined) return true;
  const again = session !== null && session.runId === run.id;
  const preset = platform.providers.get(agent.provider ?? '');
  const purpose = again ? purposeAfter(session) : 'work';
  const { conversation, from } = await takeUpFor(platform, { agent, run, preset, account, purpose });
  const next: Session = {
    id: newId(),
    agentId: agent.id,
    runId: run.id,
    no: (session?.no ?? 0) + 1,
    purpose,
    conversation,
    providerSessionId:
      conversation === 'resume' && from !== null ? from : preset.chooseSession === null ? null : randomUUID(),
    accountId: account?.id ?? null,
    plannedAt: 0,
    startedAt: null,
    pid: null,
    processStart: null,
    sandbox: null,
    pausedAt: null,
    interruptedAt: null,
    endedAt: null,
    exitCode: null,
    endReason: null,
    usage: noUsage,
    reported: null,
    result: null,
    limitUntil: null,
  };
  await platform.store.write(async (tx) => {
    // The agent may have been stopped or killed since its facts were read.
    const now = await agentView(tx.db, agent.id);
    if (now === null || nextStep(now).do !== 'plan-session') return;
    if (account !== null) await useAccount(tx, now.agent, account);
    await insertSession(tx, { ...next, plannedAt: tx.now });
    tx.emit({
      type: 'session.planned',
      projectId: agent.projectId,
      agentId: agent.id,
      data: { no: next.no, purpose },
    });
  });
  crashPoint('spawn.after_session_row');
  return true;
}

/** How the next session continues its agent's conversation. */
async function takeUpFor(
  platform: SessionPlatform,
  given: { agent: Agent; run: Run; preset: ProviderPreset; account: Account | null; purpose: Session['purpose'] },
): Promise<TakeUp> {
  const { agent, run, preset, account, purpose } = given;
  const past = async () => pastOfAgent(agent.id, await pastOf(platform, agent, run, purpose));
  if (preset.handOver !== undefined) {
    return takeUp({ agent, sessions: [], preset, branchable: false, past: await past() });
  }
  const known = await resumableSessions(platform.store.db, agent.id, preset);
  const sessions = await reachable(platform, { agent, preset, account, sessions: known });
  const branchable =
    (await isAtForkPoint(platform, agent)) && (await forkReachable(platform, { agent, preset, account }));
  const first = takeUp({ agent, sessions, preset, branchable, past: 'none' });
  return first.conversation === 'new' ? takeUp({ agent, sessions, preset, branchable, past: await past() }) : first;
}

/** Ends a run whose budget is used up, before another session starts; true if it did. */
async function endIfSpent(platform: SessionPlatform, facts: AgentFacts & { run: Run }): Promise<boolean> {
  const { agent, run } = facts;
  const breach = hasBudget(platform, agent) ? await findBreach(platform, agent, run) : null;
  if (breach === null) return false;
  // A run that was only asked to commit had reported before that it is done.
  const end = run.resultBefore === null ? endOverBudget(breach) : endDone(run.resultBefore, breach);
  await platform.store.write((tx) => recordEnd(tx, facts, end));
  return true;
}

/** Starts the planned session's process, or finds the one that was started before a crash, and records it. */
export async function startPlanned(platform: SessionPlatform, { agent, run, session }: AgentFacts): Promise<void> {
  if (run === null || session === null) return;
  const planned = await exactFork(platform, agent, session);
  await processOf(platform, agent, planned).begin(() => prepareStart(platform, agent, run, planned), {
    // An earlier daemon may have started it, and the claim may be gone.
    leftoverGraceMs: session.plannedAt < platform.startedAt ? platform.timing.stopGraceMs : null,
  });
}

/** Prepares the agent's directories and builds the launch. Not called for a process that an earlier daemon started. */
async function prepareStart(platform: SessionPlatform, agent: Agent, run: Run, session: Session): Promise<Start> {
  const preset = platform.providers.get(agent.provider ?? '');
  const searchPath = await startPath(platform, agent, preset);
  await requireInstalled(preset, { PATH: searchPath });
  await prepare(platform, agent, run, session);
  return sessionStart(platform, { agent, run, session, preset, searchPath });
}

/** Additions to an agent's assignment: the results that its task builds on, or its errand's starting point. */
async function aboutTask(
  platform: SessionPlatform,
  agent: Agent,
): Promise<{ dependencies?: Dependency[]; errand?: Errand; plan?: PlanInput }> {
  const plan = await planInput(platform.store.db, agent.id);
  if (plan !== null) return { plan };
  if (agent.mode === 'errand')
    return agent.assignment === null ? {} : { errand: { id: agent.id, description: agent.assignment } };
  const task = agent.taskId === null ? null : await taskById(platform.store.db, agent.taskId);
  if (task === null) return {};
  const dependencies = await dependenciesOf(platform.store.db, task);
  return { dependencies: dependencies.map(({ id, name, summary }) => ({ id, name, summary: summary ?? '' })) };
}

/** Ensures the preconditions of a process: no other in its place, the worktree exists, its assignment is in it. */
async function prepare(platform: SessionPlatform, agent: Agent, run: Run, session: Session): Promise<void> {
  const path = workingDirectory(agent);
  const places = await verifyPlaces(platform, agent);
  if (agent.branch === null && agent.projectId !== null) await followTarget(platform, agent.id);
  await clearSignals(
    path,
    places.map(({ path: below }) => below),
  );
  if (session.purpose === 'work' && !endsTurnByResult(agent.mode))
    await writeInput(
      path,
      inputFiles(agent, run, places[0] ?? null, { ...(await aboutTask(platform, agent)), places }),
    );
  crashPoint('spawn.after_input');
}

/**
 * The session as planned, unless its parent has continued since: then it gets a transcript instead of a native copy.
 */
async function exactFork(platform: SessionPlatform, agent: Agent, session: Session): Promise<Session> {
  if (session.conversation !== 'fork' || platform.providers.find(agent.provider)?.handOver !== undefined)
    return session;
  if (await isAtForkPoint(platform, agent)) return session;
  // A session that was started before a crash stays as it is.
  if ((await findSession(sessionDirectory(platform.home, session.id))).claimed) return session;
  await platform.store.write((tx) => updateSession(tx, session.id, { conversation: 'replay' }));
  return { ...session, conversation: 'replay' };
}

/**
 * True if the provider's own copy of the parent's conversation is what the child inherits: not if the parent has said
 * or done anything since the fork, or is in a turn.
 */
async function isAtForkPoint(platform: SessionPlatform, agent: Agent): Promise<boolean> {
  if (agent.parentId === null || agent.forkedConversation === null) return false;
  const parent = await agentView(platform.store.db, agent.parentId);
  if (parent?.session?.endedAt === null) return false;
  return !(await hasSpokenSince(platform.store.db, agent.parentId, agent.forkMessageId));
}
