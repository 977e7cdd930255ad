import { inputFiles } from '@pawl/core/input-files';
import type { AgentFacts } from '@pawl/core/next-step';
import { missingSignalPrompt, workPrompt } from '@pawl/core/prompt';
import { addWorktree, verifyWorktree } from '@pawl/git/worktree';
import { keepOutOfCommits } from '@pawl/git/exclude';
import { findSession } from '@pawl/host/find-session';
import type { ProcessIdentity } from '@pawl/host/identity';
import { startSession } from '@pawl/host/start-session';
import { stopSession } from '@pawl/host/stop-session';
import type { Conversation } from '@pawl/providers/command';
import { sessionCommand } from '@pawl/providers/command';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { noUsage } from '@pawl/schema/record';
import { updateAgent } from '@pawl/store/agents';
import { insertSession, sessionsOf, updateSession } from '@pawl/store/sessions';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentEnvironment } from '../agent-environment.ts';
import { writeInput } from '../input-writer.ts';
import { clearSignals } from '../signal-file.ts';
import type { Workshop } from '../workshop.ts';
import { ownGitDirectory, projectOf, repositoryOf, sessionDirectory } from '../workshop.ts';

/** What is never committed from a worktree: what Pawl tells the agent, and what the agent tells Pawl. */
const privatePaths = ['/.pawl/input/', '/.pawl/output/'];

/** Makes the agent's worktree and branch, fills `.pawl/input/`, and notes that it is ready. */
export async function makeWorktree(shop: Workshop, { agent, run }: AgentFacts): Promise<void> {
  const place = placeOf(agent);
  const project = await projectOf(shop.store, agent);
  const repository = await repositoryOf(shop, project);
  await addWorktree(repository, { ownDir: ownGitDirectory(shop.home, project.id), ...place });
  await keepOutOfCommits(repository, privatePaths);
  crashPoint('spawn.after_worktree');
  if (run !== null) await writeInput(place.path, inputFiles(agent, run, project));
  crashPoint('spawn.after_input');
  await shop.store.write(async (tx) => {
    await updateAgent(tx, agent.id, { worktreeReadyAt: tx.now });
    const { path, branch, base } = place;
    tx.emit({ type: 'worktree.created', projectId: project.id, agentId: agent.id, data: { path, branch, base } });
  });
}

/** Writes the row of the agent's next session. Its number is one more than the last. */
export async function planSession(shop: Workshop, { agent, run, session }: AgentFacts): Promise<void> {
  if (run === null) return;
  const again = session !== null && session.runId === run.id;
  const preset = shop.providers.get(agent.provider ?? '');
  const next: Session = {
    id: newId(),
    agentId: agent.id,
    runId: run.id,
    no: (session?.no ?? 0) + 1,
    purpose: again ? 'missing-signal' : 'work',
    providerSessionId: again ? session.providerSessionId : preset.chooseSession === null ? null : randomUUID(),
    plannedAt: 0,
    startedAt: null,
    pid: null,
    processStart: null,
    endedAt: null,
    exitCode: null,
    endReason: null,
    usage: noUsage,
    result: null,
    limitUntil: null,
  };
  await shop.store.write(async (tx) => {
    await insertSession(tx, { ...next, plannedAt: tx.now });
    const { no, purpose } = next;
    tx.emit({ type: 'session.planned', projectId: agent.projectId, agentId: agent.id, data: { no, purpose } });
  });
  crashPoint('spawn.after_session_row');
}

/** Starts the planned session's process, or finds the one that was started before a crash; then it is on record. */
export async function startPlanned(shop: Workshop, { agent, run, session }: AgentFacts): Promise<void> {
  if (run === null || session === null) return;
  const identity = await startProcess(shop, agent, run, session);
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
  if (!(await findSession(dir)).claimed) {
    // An earlier daemon may have started it, and the claim been taken away since: those processes end before others begin.
    if (session.plannedAt < shop.startedAt) {
      await stopSession({ identity: null, dir, marker: session.id, graceMs: shop.timing.stopGraceMs });
    }
    await verifyWorktree(await repositoryOf(shop, await projectOf(shop.store, agent)), path);
    await clearSignals(path);
  }
  const preset = shop.providers.get(agent.provider ?? '');
  const prompt = session.purpose === 'work' ? workPrompt(agent, run) : missingSignalPrompt();
  const { model, options } = agent;
  const words = sessionCommand(preset, { conversation: await conversationOf(shop, session), model, options, prompt });
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

/** A resumed conversation goes on under the provider's own id; the first session of a run begins a new one. */
async function conversationOf(shop: Workshop, session: Session): Promise<Conversation> {
  if (session.purpose === 'work') return { kind: 'new', chosenId: session.providerSessionId ?? '' };
  const earlier = await sessionsOf(shop.store.db, session.agentId);
  const known = earlier.findLast((each) => each.no < session.no && each.providerSessionId !== null);
  if (known?.providerSessionId) return { kind: 'resume', providerSessionId: known.providerSessionId };
  throw new PawlError('conflict', 'The provider gave no session id, so its conversation cannot be resumed.');
}

function placeOf(agent: Agent): { path: string; branch: string; base: string } {
  if (agent.worktree === null || agent.branch === null || agent.baseCommit === null) {
    throw new PawlError('internal', `The agent ${agent.alias} has no worktree of its own.`);
  }
  return { path: agent.worktree, branch: agent.branch, base: agent.baseCommit };
}
