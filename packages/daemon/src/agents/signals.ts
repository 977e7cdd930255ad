import { assignmentAfter } from '@pawl/core/agents/assignment';
import { isOver } from '@pawl/core/changes/change-life';
import type { Limits } from '@pawl/core/accounts/budget';
import { withLimits } from '@pawl/core/accounts/budget';
import { refuseAdopted } from '@pawl/core/agents/adopted';
import { refuseAfterCompletion } from '@pawl/core/supervision/complete';
import { runOf } from '@pawl/core/sessions/run';
import { answersTo } from '@pawl/core/questions/answers';
import { formatAnswers, formatUnanswered } from '@pawl/core/prompts/follow-up';
import { checkTask } from '@pawl/core/plan/task';
import { continueSession, haltSession } from '@pawl/host/session/halt-session';
import { sendInput } from '@pawl/host/session/input';
import { interruptSession } from '@pawl/host/session/interrupt-session';
import type { ReplyBody } from '@pawl/protocol/view';
import { streamJsonMessage } from '@pawl/providers/command';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import type { NewEvent } from '@pawl/schema/event';
import { newId } from '@pawl/schema/id';
import type { Agent, Budget, Run, Session } from '@pawl/schema/record';
import type { AgentView } from '@pawl/store/agents/agent-views';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById, updateAgent } from '@pawl/store/agents/agents';
import { changesByAgent } from '@pawl/store/changes/changes';
import { appendMessage } from '@pawl/store/sessions/messages';
import { endRun, insertRun, openRuns, runById, runTree } from '@pawl/store/sessions/runs';
import { sessionsThatSpoke, updateSession } from '@pawl/store/sessions/sessions';
import { refuseSpent } from '../sessions/reconcile/spending.ts';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { Reconciler, RunningFacts } from '../sessions/reconcile/reconciler.ts';
import { projectIfAny } from '../platform/places.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { identityOf, sessionDirectory } from '../platform/platform.ts';
import { refuseUncountable } from '../platform/budgets.ts';
import { retakeTask, taskAfterRun } from '../tasks/tasks.ts';
import { agentOfRequest, rememberRequest } from '../platform/idempotency.ts';

/** What a resumed agent is told when the person says nothing. */
const goOn = 'Go on with your task.';

type ResumeOptions = {
  told?: NewEvent | null;
  budget?: Limits | undefined;
  /** Its prompt is a person's own word, and may be new work. */
  byPerson?: boolean;
};

export type Signals = ReturnType<typeof createSignals>;

/** The signals of one daemon, each on what its row in the process model names: a run, a session, an agent. */
export function createSignals(platform: DefinitionPlatform, reconciler: Reconciler) {
  const { store } = platform;

  /** Asks for the end of an agent's session and waits until its processes have left. Nothing happens to one that rests. */
  async function stop(agentId: string): Promise<void> {
    await store.write(async (tx) => {
      const facts = await agentView(tx.db, agentId);
      if (facts !== null) refuseAdopted(facts.agent);
      if (facts?.run?.outcome !== null || facts.agent.stopRequestedAt !== null) return;
      await updateAgent(tx, agentId, { stopRequestedAt: tx.now });
      tx.emit({ type: 'agent.stopping', projectId: facts.agent.projectId, agentId, data: { by: 'person' } });
    });
    crashPoint('stop.after_request');
    await reconciler.settle(agentId);
  }

  /** The emergency brake: stops everybody who is at work, those too who only wait for a place. */
  async function stopAll(): Promise<string[]> {
    const stopped = await store.write(async (tx) => {
      const agents: string[] = [];
      for (const { agentId } of await openRuns(tx.db)) {
        await updateAgent(tx, agentId, { stopRequestedAt: tx.now });
        agents.push(agentId);
      }
      if (agents.length > 0) tx.emit({ type: 'fleet.stopping', data: { by: 'person', count: agents.length, agents } });
      return agents;
    });
    crashPoint('stop.after_request');
    await Promise.all(stopped.map((agentId) => reconciler.settle(agentId)));
    return stopped;
  }

  /** Gives an agent that rests a new run; it goes on with its conversation. */
  async function resume(
    agentId: string,
    prompt: string | undefined,
    key: string | undefined,
    { told = null, budget, byPerson = false }: ResumeOptions = {},
  ): Promise<void> {
    const known = await agentById(store.db, agentId);
    if (known === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
    refuseResume(known);
    const project = await projectIfAny(store, known);
    // As it is now: a definition that was deleted meanwhile begins no new run.
    const definition = await platform.definitions.find(project, known.definition);
    refuseUncountable(platform.providers.find(known.provider), budget);
    const isRepeated = (await agentOfRequest(store.db, key)) !== null;
    if (!isRepeated)
      await refuseSpent(platform, { ...known, budget: withLimits(known.budget, budget ?? {}) }, known.projectId);
    await store.write(async (tx) => {
      if ((await agentOfRequest(tx.db, key)) !== null) return;
      const facts = await agentView(tx.db, agentId);
      if (facts === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
      refuseResume(facts.agent);
      const task = taskToResume(facts.agent, facts.run, prompt);
      const sessionId = facts.run?.sessionId;
      const begun = runOf(facts.agent, { id: newId(), project, task, definition, sessionId, now: tx.now });
      await updateAgent(tx, agentId, { stopRequestedAt: null });
      if (byPerson && prompt !== undefined) await assign(tx, facts, prompt);
      if (budget !== undefined) await setBudget(tx, facts.agent, withLimits(facts.agent.budget, budget));
      await insertRun(tx, begun.run);
      await retakeTask(tx, facts.agent);
      await appendMessage(tx, begun.message);
      tx.emit(begun.event);
      if (told !== null) tx.emit(told);
      await rememberRequest(tx, key, agentId);
    });
  }

  /**
   * Says something to an agent that is at work, or rests: to the process that runs where its provider listens while it
   * works, else its turn is ended and it goes on with the word in a new session.
   */
  async function tell(
    agentId: string,
    message: string,
    { by, key }: { by: string; key: string | undefined },
  ): Promise<'live' | 'resumed'> {
    checkTask(message);
    const known = await agentById(store.db, agentId);
    if (known === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
    refuseResume(known);
    if ((await agentOfRequest(store.db, key)) !== null) return 'resumed';
    if (await tellLive(agentId, message, { by, key })) return 'live';
    const facts = await agentView(store.db, agentId);
    const unheard = facts?.run?.outcome === null && !(await hasSpoken(facts.run)) ? facts.run.task : null;
    if (facts?.run?.outcome === null) await stop(agentId);
    const event = toldEvent(known, by, 'resumed');
    // What was said before and has reached nobody is said again, together with this.
    await resume(agentId, unheard === null ? message : `${unheard}\n\n${message}`, key, {
      told: event,
      byPerson: by === 'person',
    });
    return 'resumed';
  }

  async function hasSpoken(run: Run): Promise<boolean> {
    await reconciler.ingest.catchUp(run.agentId);
    return (await sessionsThatSpoke(store.db, run.agentId)).some((session) => session.runId === run.id);
  }

  /** Hands a word to the process that runs; false when none does that would hear it. */
  async function tellLive(
    agentId: string,
    message: string,
    { by, key }: { by: string; key: string | undefined },
  ): Promise<boolean> {
    const heard = await reconciler.withSession(agentId, async ({ agent, session }) => {
      const preset = platform.providers.find(agent.provider);
      if (preset?.promptMode !== 'stream-json' || session.pausedAt !== null || agent.stopRequestedAt !== null)
        return false;
      if (!reconciler.ingest.isInTurn(agentId)) return false;
      try {
        await sendInput(sessionDirectory(platform.home, session.id), streamJsonMessage(message));
      } catch (error) {
        // Its turn has just ended, and nobody reads there any more.
        if (error instanceof PawlError && error.code === 'conflict') return false;
        throw error;
      }
      await store.write(async (tx) => {
        const { runId, id: sessionId } = session;
        await appendMessage(tx, { agentId, runId, sessionId, kind: 'user', content: message });
        tx.emit(toldEvent(agent, by, 'live'));
        await rememberRequest(tx, key, agentId);
      });
      return true;
    });
    return heard ?? false;
  }

  /** Goes on with the answers to the questions that an agent left, or with the word that there are none now. */
  async function reply(agentId: string, body: ReplyBody, { by, key }: { by: string; key: string | undefined }) {
    if ((await agentOfRequest(store.db, key)) !== null) return;
    const facts = await agentView(store.db, agentId);
    if (facts === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
    const questions = facts.run?.outcome === 'completed' ? facts.run.questions : null;
    if (questions === null) {
      throw new PawlError('conflict', `${facts.agent.alias} has asked nothing.`, {
        hint: `To tell it something: pawl resume ${facts.agent.alias} "…"`,
      });
    }
    const answers = body.notNow === true ? {} : answersTo(questions, body);
    const said = body.notNow === true ? formatUnanswered(questions) : formatAnswers(questions, answers);
    const told = {
      type: 'agent.answered',
      projectId: facts.agent.projectId,
      agentId,
      data: { by, answers: Object.keys(answers).length },
    } as const;
    await resume(agentId, said, key, { told });
  }

  /** Halts an agent's processes. The wish is on record first, so that a daemon that dies here is made good. */
  async function pause(agentId: string): Promise<void> {
    await toSession(agentId, async ({ agent, session }) => {
      await store.write(async (tx) => {
        if (session.pausedAt !== null) return;
        await updateSession(tx, session.id, { pausedAt: tx.now });
        tx.emit({ type: 'session.paused', projectId: agent.projectId, agentId, data: { no: session.no } });
      });
      crashPoint('pause.after_request');
      await haltSession(processesOf(platform, session));
    });
  }

  /** Lets halted processes go on, and only then forgets that they were to be halted. */
  async function proceed(agentId: string): Promise<void> {
    await toSession(agentId, async ({ agent, session }) => {
      await continueSession(processesOf(platform, session));
      crashPoint('continue.after_processes');
      await store.write(async (tx) => {
        if (session.pausedAt === null) return;
        await updateSession(tx, session.id, { pausedAt: null });
        tx.emit({ type: 'session.continued', projectId: agent.projectId, agentId, data: { no: session.no } });
      });
    });
  }

  /** Asks an agent, once, to leave off what it does; how it ends is its own matter. */
  async function interrupt(agentId: string): Promise<void> {
    await toSession(agentId, async ({ agent, session }) => {
      if (session.pausedAt !== null) {
        throw new PawlError('conflict', `${agent.alias} is paused, so it cannot hear.`, {
          hint: `Let it go on first: pawl continue ${agent.alias}`,
        });
      }
      await store.write(async (tx) => {
        await updateSession(tx, session.id, { interruptedAt: tx.now });
        tx.emit({ type: 'session.interrupted', projectId: agent.projectId, agentId, data: { no: session.no } });
      });
      await interruptSession(processesOf(platform, session));
    });
  }

  /** Cancels a run and all that it began. The agents stay; their processes for these runs leave. */
  async function cancel(runId: string): Promise<string[]> {
    const cancelled = await store.write(async (tx) => {
      const ended: Run[] = [];
      for (const run of await runTree(tx.db, runId)) {
        const detail = 'cancelled on request';
        if (!(await endRun(tx, run.id, { outcome: 'cancelled', detail, questions: null }))) continue;
        ended.push(run);
        const agent = await agentById(tx.db, run.agentId);
        if (agent !== null) await taskAfterRun(tx, agent, { outcome: 'cancelled', detail, questions: null });
        const about = { projectId: run.projectId, agentId: run.agentId };
        tx.emit({ type: 'run.ended', ...about, data: { status: 'cancelled', detail } });
      }
      return ended;
    });
    crashPoint('cancel.after_commit');
    await reconciler.endSessions(cancelled.map((run) => run.agentId));
    return cancelled.map((run) => run.id);
  }

  /** The run that a person means: the one with this id, or the open one of this agent; null when it rests. */
  async function runToCancel(reference: string, find: (reference: string) => Promise<Agent>): Promise<string | null> {
    if ((await runById(store.db, reference)) !== null) return reference;
    const agent = await find(reference);
    refuseAdopted(agent);
    const facts = await agentView(store.db, agent.id);
    return facts?.run?.outcome === null ? facts.run.id : null;
  }

  /** Puts a dead agent out of sight. Its row and its history stay. */
  async function reap(agentId: string): Promise<void> {
    await store.write(async (tx) => {
      const agent = await agentById(tx.db, agentId);
      if (agent === null || agent.reapedAt !== null) return;
      if (agent.endedAt === null) {
        throw new PawlError('conflict', `${agent.alias} lives; only the dead are reaped.`, {
          hint: `Kill it first: pawl kill ${agent.alias}`,
        });
      }
      await updateAgent(tx, agentId, { reapedAt: tx.now });
      tx.emit({ type: 'agent.reaped', projectId: agent.projectId, agentId, data: { alias: agent.alias } });
    });
  }

  async function toSession(agentId: string, act: (facts: RunningFacts) => Promise<void>): Promise<void> {
    const known = await agentById(store.db, agentId);
    if (known !== null) refuseAdopted(known);
    const done = await reconciler.withSession(agentId, async (facts) => {
      await act(facts);
      return true;
    });
    if (done === null) {
      throw new PawlError('conflict', 'The agent has no process now.', { hint: 'See `pawl ps` for those that run.' });
    }
  }

  return { stop, stopAll, resume, tell, reply, pause, proceed, interrupt, cancel, runToCancel, reap };
}

function processesOf(platform: DefinitionPlatform, session: Session) {
  return { identity: identityOf(session), dir: sessionDirectory(platform.home, session.id), marker: session.id };
}

/** Gives an agent whose work is finished a person's words as its new assignment. */
async function assign(tx: WriteTransaction, { agent, run }: AgentView, prompt: string): Promise<void> {
  const [latest] = await changesByAgent(tx.db, agent.id);
  const hasOpenChange = latest !== undefined && !isOver(latest);
  const assignment = assignmentAfter(agent, run, { prompt, hasOpenChange });
  if (assignment !== agent.assignment) await updateAgent(tx, agent.id, { assignment });
}

async function setBudget(tx: WriteTransaction, agent: Agent, budget: Budget): Promise<void> {
  await updateAgent(tx, agent.id, { budget });
  tx.emit({ type: 'budget.changed', projectId: agent.projectId, agentId: agent.id, data: { budget } });
}

function toldEvent(agent: Agent, by: string, channel: 'live' | 'resumed'): NewEvent {
  return { type: 'agent.told', projectId: agent.projectId, agentId: agent.id, data: { by, channel } };
}

function refuseResume(agent: Agent): void {
  if (agent.parentId === null) throw new PawlError('conflict', 'Agent 0 is you; it runs nothing.');
  if (agent.kind === 'subagent') {
    throw new PawlError('invalid_input', `${agent.alias} is a subagent: it works for an agent, not for a person.`);
  }
  refuseAfterCompletion(agent);
  refuseAdopted(agent);
  if (agent.endedAt === null) return;
  throw new PawlError('conflict', `The agent ${agent.alias} is dead.`, { hint: 'Start another one: pawl work "…"' });
}

function taskToResume(agent: Agent, run: Run | null, prompt: string | undefined): string {
  if (run !== null && run.outcome === null) {
    throw new PawlError('conflict', `${agent.alias} is at work already.`, {
      hint: 'Wait until it is done, or stop it first.',
    });
  }
  if (prompt === undefined && run === null) {
    throw new PawlError('invalid_input', `${agent.alias} has had no task yet.`, {
      hint: `Say what to do: pawl resume ${agent.alias} "…"`,
    });
  }
  const task = prompt ?? goOn;
  checkTask(task);
  return task;
}
