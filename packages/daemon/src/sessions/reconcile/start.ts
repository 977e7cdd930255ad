import { endDone, endOverBudget } from '@pawl/core/sessions/completion';
import { takeUp } from '@pawl/core/sessions/conversation';
import type { Dependency, Errand } from '@pawl/core/sessions/input-files';
import { inputFiles } from '@pawl/core/sessions/input-files';
import type { AgentFacts } from '@pawl/core/sessions/next-step';
import { nextStep } from '@pawl/core/sessions/next-step';
import type { ProviderPreset } from '@pawl/core/port/provider';
import { endsTurnByResult } from '@pawl/core/agents/work-mode';
import { findSession } from '@pawl/host/session/find-session';
import type { ProcessIdentity } from '@pawl/host/process/identity';
import { startSession } from '@pawl/host/session/start-session';
import { stopSession } from '@pawl/host/session/stop-session';
import type { Conversation } from '@pawl/providers/command';
import { sessionCommand } from '@pawl/providers/command';
import { requireInstalled } from '@pawl/providers/detect';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { newId, uuidOf } from '@pawl/schema/id';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { noUsage } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { hasSpokenSince } from '@pawl/store/sessions/messages';
import { insertSession, updateSession } from '@pawl/store/sessions/sessions';
import { taskById } from '@pawl/store/projects/tasks';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentEnvironment } from '../../platform/agent-environment.ts';
import { toolLimits } from '../../definitions/tool-limits.ts';
import { followTarget } from './follow-target.ts';
import { writeInput } from '../input-writer.ts';
import { sessionServers } from '../session-servers.ts';
import { mailForTurn } from '../../mail/turn-mail.ts';
import { writePrompt } from '../../prompts/sent.ts';
import { dependenciesOf } from '../../tasks/tasks.ts';
import { workingDirectory } from '../../platform/places.ts';
import { clearSignals } from '../../platform/signal-file.ts';
import { startPath } from '../../platform/search-path.ts';
import { settingsOfPlaces } from '../../definitions/trust/place-settings.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { sessionDirectory } from '../../platform/platform.ts';
import { accountFor, credentialsFor, forkReachable, reachable, useAccount } from './account-choice.ts';
import { verifyPlaces } from './make-worktree.ts';
import { findBreach, hasBudget } from './spending.ts';
import { pastOf, promptFor } from './session-prompt.ts';
import { resumableSessions } from './resumable-sessions.ts';
import { purposeAfter, recordEnd } from './verdict.ts';

/** Writes the row of the agent's next session. Its number is one more than the last. False: nothing can be done now. */
export async function planSession(platform: SessionPlatform, { agent, run, session }: AgentFacts): Promise<boolean> {
  if (run === null) return false;
  if (await endIfSpent(platform, { agent, run, session })) return true;
  const account = await accountFor(platform, agent, run);
  // It has to wait for one, and that is on record now.
  if (account === undefined) return true;
  const again = session !== null && session.runId === run.id;
  const preset = platform.providers.get(agent.provider ?? '');
  const purpose = again ? purposeAfter(session) : 'work';
  const known = await resumableSessions(platform.store.db, agent.id, preset);
  const sessions = await reachable(platform, { agent, preset, account, sessions: known });
  const branchable =
    (await isAtForkPoint(platform, agent)) && (await forkReachable(platform, { agent, preset, account }));
  const first = takeUp({ agent, sessions, preset, branchable, hasPast: false });
  const hasPast = first.conversation === 'new' && (await pastOf(platform, agent, run, purpose)).length > 0;
  const { conversation, from } = hasPast ? takeUp({ agent, sessions, preset, branchable, hasPast }) : first;
  const next: Session = {
    id: newId(),
    agentId: agent.id,
    runId: run.id,
    no: (session?.no ?? 0) + 1,
    purpose,
    conversation,
    providerSessionId: conversation === 'resume' ? from : preset.chooseSession === null ? null : randomUUID(),
    accountId: account?.id ?? null,
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
    reported: null,
    result: null,
    limitUntil: null,
  };
  await platform.store.write(async (tx) => {
    // Somebody may have stopped or killed the agent since its facts were read.
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

/** Ends a run that may use no more, before another session of it begins; true when it did. */
async function endIfSpent(platform: SessionPlatform, facts: AgentFacts & { run: Run }): Promise<boolean> {
  const { agent, run } = facts;
  const breach = hasBudget(platform, agent) ? await findBreach(platform, agent, run) : null;
  if (breach === null) return false;
  // One that was only asked to commit had said before that it is done.
  const end = run.resultBefore === null ? endOverBudget(breach) : endDone(run.resultBefore, breach);
  await platform.store.write((tx) => recordEnd(tx, facts, end));
  return true;
}

/** Starts the planned session's process, or finds the one that was started before a crash; then it is on record. */
export async function startPlanned(platform: SessionPlatform, { agent, run, session }: AgentFacts): Promise<void> {
  if (run === null || session === null) return;
  const identity = await startProcess(platform, agent, run, await exactFork(platform, agent, session));
  crashPoint('spawn.after_process');
  await platform.store.write(async (tx) => {
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

async function startProcess(
  platform: SessionPlatform,
  agent: Agent,
  run: Run,
  session: Session,
): Promise<ProcessIdentity> {
  const path = workingDirectory(agent);
  const dir = sessionDirectory(platform.home, session.id);
  // A session that was claimed has its process already: its signal, if there is one, must stay.
  const { claimed, identity } = await findSession(dir);
  if (claimed && identity !== null) return identity;
  const preset = platform.providers.get(agent.provider ?? '');
  const searchPath = await startPath(platform, agent, preset);
  await requireInstalled(preset, { PATH: searchPath });
  if (!claimed) await prepare(platform, agent, run, session);
  const { model, options } = agent;
  const { env: credentials, baseUrl } = await credentialsFor(platform, preset, agent, session);
  const tools = toolLimits(run.definition, preset, Object.keys(platform.choices.mcpServers));
  const limited = tools.enforcement !== 'none';
  const blocked = await blocksSettings(platform, { agent, preset, limited });
  const mail = await mailForTurn(platform, agent, run, session);
  const prompt = await promptFor(platform, { agent, run, session, preset, blocked, mail });
  const words = sessionCommand(preset, {
    conversation: conversationFor(agent, session),
    model,
    options,
    tools,
    readOnly: tools.readOnly,
    prompt,
    promptName: uuidOf(session.id),
    directory: dir,
    worktree: path,
    mcpServers: sessionServers(platform, agent, session),
    hook: tools.hook ? `${shellWord(join(platform.home.bin, 'pawl'))} hook pre-tool-use` : null,
    blockSettings: blocked,
    baseUrl,
  });
  const temporary = join(dir, 'tmp');
  const env = agentEnvironment({
    from: platform.environment,
    path: searchPath,
    provider: {
      ...preset.env,
      ...(process.getuid?.() === 0 ? preset.rootEnv : {}),
      ...credentials,
      ...words.env,
    },
    agent,
    token: platform.authority.agentToken(agent.id),
    home: platform.home.root,
    pawl: platform.pawl,
    bin: platform.home.bin,
    temporary,
  });
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  // What was started is on record without the values of its environment, some of which are secret.
  const record = { argv: [words.command, ...words.args], environment: Object.keys(env).toSorted() };
  await writeFile(join(dir, 'session.json'), JSON.stringify(record), { mode: 0o600 });
  await writePrompt(dir, { system: prompt.system ?? '', turn: prompt.turn });
  for (const file of words.files) await writeFile(join(dir, file.path), file.content, { mode: 0o600 });
  return startSession({ dir, ...words, cwd: path, env, marker: session.id });
}

/** What an agent's assignment says beside its run: the results that its task builds on, or what its errand began with. */
async function aboutTask(
  platform: SessionPlatform,
  agent: Agent,
): Promise<{ dependencies?: Dependency[]; errand?: Errand }> {
  if (agent.mode === 'errand')
    return agent.assignment === null ? {} : { errand: { id: agent.id, description: agent.assignment } };
  const task = agent.taskId === null ? null : await taskById(platform.store.db, agent.taskId);
  if (task === null) return {};
  const dependencies = await dependenciesOf(platform.store.db, task);
  return { dependencies: dependencies.map(({ id, name, summary }) => ({ id, name, summary: summary ?? '' })) };
}

/** Whether a session has to be kept from the settings that its repository brings; that is told. */
async function blocksSettings(
  platform: SessionPlatform,
  { agent, preset, limited }: { agent: Agent; preset: ProviderPreset; limited: boolean },
): Promise<boolean> {
  const { block, files } = await settingsOfPlaces(platform, { agent, preset, limited });
  if (files.length > 0) {
    await platform.store.write(async (tx) => {
      tx.emit({ type: 'settings.blocked', projectId: agent.projectId, agentId: agent.id, data: { files } });
    });
  }
  return block;
}

/** A word as a POSIX shell reads it. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What has to be so before the process begins: nobody else in its place, the worktree there, its assignment in it. */
async function prepare(platform: SessionPlatform, agent: Agent, run: Run, session: Session): Promise<void> {
  const path = workingDirectory(agent);
  // An earlier daemon may have started it, and the claim been taken away since: those processes end before others begin.
  if (session.plannedAt < platform.startedAt) {
    const dir = sessionDirectory(platform.home, session.id);
    await stopSession({ identity: null, dir, marker: session.id, graceMs: platform.timing.stopGraceMs });
  }
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

/** The session as planned, unless its parent has gone on since: then it is told the conversation instead of a copy. */
async function exactFork(platform: SessionPlatform, agent: Agent, session: Session): Promise<Session> {
  if (session.conversation !== 'fork' || (await isAtForkPoint(platform, agent))) return session;
  // One that was started before a crash is what it is.
  if ((await findSession(sessionDirectory(platform.home, session.id))).claimed) return session;
  await platform.store.write((tx) => updateSession(tx, session.id, { conversation: 'replay' }));
  return { ...session, conversation: 'replay' };
}

/**
 * Whether the provider's own copy of the parent's conversation is what the child is to inherit: it is not when the parent
 * has said or done anything since the fork, or is in the middle of a turn.
 */
async function isAtForkPoint(platform: SessionPlatform, agent: Agent): Promise<boolean> {
  if (agent.parentId === null || agent.forkedConversation === null) return false;
  const parent = await agentView(platform.store.db, agent.parentId);
  if (parent?.session?.endedAt === null) return false;
  return !(await hasSpokenSince(platform.store.db, agent.parentId, agent.forkMessageId));
}
