import { takeUp } from '@pawl/core/conversation';
import { conversationOf } from '@pawl/core/history';
import { inputFiles } from '@pawl/core/input-files';
import type { AgentFacts } from '@pawl/core/next-step';
import { nextStep } from '@pawl/core/next-step';
import {
  interruptedNotice,
  interruptedPrompt,
  missingSignalNotice,
  missingSignalPrompt,
  nextTaskPrompt,
  workPrompt,
} from '@pawl/core/prompt';
import { transcriptOf } from '@pawl/core/transcript';
import { keepOutOfCommits } from '@pawl/git/exclude';
import { addWorktree, verifyWorktree } from '@pawl/git/worktree';
import { findSession } from '@pawl/host/find-session';
import type { ProcessIdentity } from '@pawl/host/identity';
import { startSession } from '@pawl/host/start-session';
import { stopSession } from '@pawl/host/stop-session';
import type { Conversation } from '@pawl/providers/command';
import { sessionCommand } from '@pawl/providers/command';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Agent, Message, Run, Session } from '@pawl/schema/record';
import { noUsage } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agent-views';
import { updateAgent } from '@pawl/store/agents';
import { wholeHistory } from '@pawl/store/history';
import { hasSpokenSince } from '@pawl/store/messages';
import { insertSession, sessionsThatSpoke, updateSession } from '@pawl/store/sessions';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentEnvironment } from '../agent-environment.ts';
import { toolLimits } from '../definitions/tool-limits.ts';
import { writeInput } from '../input-writer.ts';
import { clearSignals } from '../signal-file.ts';
import type { Workshop } from '../workshop.ts';
import { dropQuietly, ownGitDirectory, placeOf, projectOf, repositoryOf, sessionDirectory } from '../workshop.ts';
import { lostReason } from './finish.ts';

/** What is never committed from a worktree: what Pawl tells the agent, and what the agent tells Pawl. */
const privatePaths = ['/.pawl/input/', '/.pawl/output/'];

/** Makes the agent's worktree and branch, with its parent's uncommitted files where it was forked with them. */
export async function makeWorktree(shop: Workshop, { agent }: AgentFacts): Promise<void> {
  const place = placeOf(agent);
  const project = await projectOf(shop.store, agent);
  const repository = await repositoryOf(shop, project);
  const ownDir = ownGitDirectory(shop.home, project.id);
  const snapshot = agent.snapshot === null ? {} : { snapshot: { name: agent.id, commit: agent.snapshot } };
  await addWorktree(repository, { ownDir, ...place, ...snapshot });
  await keepOutOfCommits(repository, privatePaths);
  crashPoint('spawn.after_worktree');
  await shop.store.write(async (tx) => {
    await updateAgent(tx, agent.id, { worktreeReadyAt: tx.now });
    const { path, branch, base } = place;
    tx.emit({ type: 'worktree.created', projectId: project.id, agentId: agent.id, data: { path, branch, base } });
  });
  if (agent.snapshot !== null) await dropQuietly(shop, project.id, agent.id);
}

/** Writes the row of the agent's next session. Its number is one more than the last. */
export async function planSession(shop: Workshop, { agent, run, session }: AgentFacts): Promise<void> {
  if (run === null) return;
  const again = session !== null && session.runId === run.id;
  const preset = shop.providers.get(agent.provider ?? '');
  const purpose = !again ? 'work' : session.endReason === lostReason ? 'interrupted' : 'missing-signal';
  const sessions = await sessionsThatSpoke(shop.store.db, agent.id);
  const branchable = await isAtForkPoint(shop, agent);
  const first = takeUp({ agent, sessions, preset, branchable, hasPast: false });
  const hasPast = first.conversation === 'new' && (await pastOf(shop, agent, run, purpose)).length > 0;
  const { conversation, from } = hasPast ? takeUp({ agent, sessions, preset, branchable, hasPast }) : first;
  const next: Session = {
    id: newId(),
    agentId: agent.id,
    runId: run.id,
    no: (session?.no ?? 0) + 1,
    purpose,
    conversation,
    providerSessionId: conversation === 'resume' ? from : preset.chooseSession === null ? null : randomUUID(),
    plannedAt: 0,
    startedAt: null,
    pid: null,
    processStart: null,
    pausedAt: null,
    interruptedAt: null,
    endedAt: null,
    exitCode: null,
    endReason: null,
    usage: noUsage,
    result: null,
    limitUntil: null,
  };
  await shop.store.write(async (tx) => {
    // Somebody may have stopped or killed the agent since its facts were read.
    const now = await agentView(tx.db, agent.id);
    if (now === null || nextStep(now).do !== 'plan-session') return;
    await insertSession(tx, { ...next, plannedAt: tx.now });
    tx.emit({
      type: 'session.planned',
      projectId: agent.projectId,
      agentId: agent.id,
      data: { no: next.no, purpose },
    });
  });
  crashPoint('spawn.after_session_row');
}

/** What was said before the session that is planned: before its run, or, when the run goes on, up to now. */
async function pastOf(shop: Workshop, agent: Agent, run: Run, purpose: Session['purpose']): Promise<Message[]> {
  const said = conversationOf(await wholeHistory(shop.store.db, agent.id));
  return purpose === 'work' ? said.filter((message) => message.runId !== run.id) : said;
}

/** Starts the planned session's process, or finds the one that was started before a crash; then it is on record. */
export async function startPlanned(shop: Workshop, { agent, run, session }: AgentFacts): Promise<void> {
  if (run === null || session === null) return;
  const identity = await startProcess(shop, agent, run, await exactFork(shop, agent, session));
  crashPoint('spawn.after_process');
  await shop.store.write(async (tx) => {
    await updateSession(tx, session.id, { startedAt: tx.now, pid: identity.pid, processStart: identity.start });
    tx.emit({
      type: 'session.started',
      projectId: agent.projectId,
      agentId: agent.id,
      data: { no: session.no, pid: identity.pid },
    });
  });
  crashPoint('spawn.after_pid');
}

async function startProcess(shop: Workshop, agent: Agent, run: Run, session: Session): Promise<ProcessIdentity> {
  const { path } = placeOf(agent);
  const dir = sessionDirectory(shop.home, session.id);
  // A session that was claimed has its process already: its signal, if there is one, must stay.
  if (!(await findSession(dir)).claimed) await prepare(shop, agent, run, session);
  const preset = shop.providers.get(agent.provider ?? '');
  const { model, options } = agent;
  const words = sessionCommand(preset, {
    conversation: conversationFor(agent, session),
    model,
    options,
    tools: toolLimits(run.definition, preset),
    prompt: await promptFor(shop, agent, run, session),
  });
  const temporary = join(dir, 'tmp');
  const env = agentEnvironment({
    from: shop.environment,
    provider: preset.env,
    agent,
    token: shop.authority.agentToken(agent.id),
    home: shop.home.root,
    pawl: shop.pawl,
    temporary,
  });
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  // What was started is on record without the values of its environment, some of which are secret.
  const record = { argv: [words.command, ...words.args], environment: Object.keys(env).toSorted() };
  await writeFile(join(dir, 'session.json'), JSON.stringify(record), { mode: 0o600 });
  return startSession({ dir, ...words, cwd: path, env, marker: session.id });
}

/** What has to be so before the process begins: nobody else in its place, the worktree there, its assignment in it. */
async function prepare(shop: Workshop, agent: Agent, run: Run, session: Session): Promise<void> {
  const { path } = placeOf(agent);
  // An earlier daemon may have started it, and the claim been taken away since: those processes end before others begin.
  if (session.plannedAt < shop.startedAt) {
    const dir = sessionDirectory(shop.home, session.id);
    await stopSession({ identity: null, dir, marker: session.id, graceMs: shop.timing.stopGraceMs });
  }
  const project = await projectOf(shop.store, agent);
  await verifyWorktree(await repositoryOf(shop, project), path);
  await clearSignals(path);
  if (session.purpose === 'work') await writeInput(path, inputFiles(agent, run, project));
  crashPoint('spawn.after_input');
}

function conversationFor(agent: Agent, session: Session): Conversation {
  const { providerSessionId } = session;
  if (session.conversation === 'new' || session.conversation === 'replay') {
    return { kind: 'new', chosenId: providerSessionId };
  }
  const known = session.conversation === 'fork' ? agent.forkedConversation : providerSessionId;
  if (known === null) {
    throw new PawlError('conflict', 'The provider gave no session id, so its conversation cannot be taken up.');
  }
  return session.conversation === 'fork'
    ? { kind: 'fork', providerSessionId: known, chosenId: providerSessionId }
    : { kind: 'resume', providerSessionId: known };
}

async function promptFor(shop: Workshop, agent: Agent, run: Run, session: Session): Promise<string> {
  const { purpose, conversation } = session;
  if (conversation === 'resume') {
    if (purpose === 'missing-signal') return missingSignalPrompt();
    return purpose === 'interrupted' ? interruptedPrompt(agent, run) : nextTaskPrompt(agent, run);
  }
  const past = conversation === 'replay' ? await pastOf(shop, agent, run, purpose) : [];
  const notices = { work: null, 'missing-signal': missingSignalNotice, interrupted: interruptedNotice };
  return workPrompt(agent, run, {
    transcript: transcriptOf(past, limits.replayCharacters),
    notice: notices[purpose],
  });
}

/** The session as planned, unless its parent has gone on since: then it is told the conversation instead of a copy. */
async function exactFork(shop: Workshop, agent: Agent, session: Session): Promise<Session> {
  if (session.conversation !== 'fork' || (await isAtForkPoint(shop, agent))) return session;
  // One that was started before a crash is what it is.
  if ((await findSession(sessionDirectory(shop.home, session.id))).claimed) return session;
  await shop.store.write((tx) => updateSession(tx, session.id, { conversation: 'replay' }));
  return { ...session, conversation: 'replay' };
}

/**
 * Whether the provider's own copy of the parent's conversation is what the child is to inherit: it is not when the parent
 * has said or done anything since the fork, or is in the middle of a turn.
 */
async function isAtForkPoint(shop: Workshop, agent: Agent): Promise<boolean> {
  if (agent.parentId === null || agent.forkedConversation === null) return false;
  const parent = await agentView(shop.store.db, agent.parentId);
  if (parent?.session?.endedAt === null) return false;
  return !(await hasSpokenSince(shop.store.db, agent.parentId, agent.forkMessageId));
}
