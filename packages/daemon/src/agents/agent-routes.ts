import type { OpenAPIHono } from '@hono/zod-openapi';
import { refuseAdopted } from '@pawl/core/agents/adopted';
import type { WhenDone } from '@pawl/core/changes/when-done';
import type { WorkAnswer } from '@pawl/protocol/agents/verb-view';
import { routes } from '@pawl/protocol/routes';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Project } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { descendsFrom } from '@pawl/store/agents/family';
import { projectById } from '@pawl/store/projects/projects';
import type { Database } from '@pawl/store/tables';
import type { Context } from 'hono';
import { personPath } from '../platform/search-path.ts';
import { baseNoteFor } from '../project-config/base-commit.ts';
import { askGate } from '../definitions/home-definitions.ts';
import { currentAgent } from '../registry/current-agent.ts';
import type { Actor } from './add-child.ts';
import { forkAgent, forkAndExec } from './fork.ts';
import { clearHistory, historyPage, markHistory, rewindHistory } from './history.ts';
import { killAgent } from './kill.ts';
import { addLockRoutes } from './lock-routes.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import type { Agents } from './agents.ts';
import type { Barrier } from './barrier.ts';
import type { Signals } from './signals.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { requestKey, selfOnly } from '../platform/http/door.ts';

/** Names the caller if it is an agent, else the agent that the person acts as. */
const oneself = '@current';

type AgentRouteParts = {
  platform: SessionPlatform;
  agents: Agents;
  reconciler: Reconciler;
  signals: Signals;
  barrier: Barrier;
  /** Describes what happens to an agent's work when it is done. */
  whenDone(agent: Agent, project: Project | null): Promise<WhenDone | null>;
};

export function addAgentRoutes(app: OpenAPIHono<DoorVariables>, parts: AgentRouteParts): void {
  addLifeRoutes(app, parts);
  addSignalRoutes(app, parts);
  addHistoryRoutes(app, parts);
}

/** The start and the end of agents. */
function addLifeRoutes(app: OpenAPIHono<DoorVariables>, parts: AgentRouteParts): void {
  const { platform, agents, reconciler, barrier } = parts;
  const { db } = platform.store;
  const target = targetFinder(parts);
  app.openapi(routes.work, async (context) => {
    const body = context.req.valid('json');
    const actor: Actor = {
      agent: await callerAgent(platform.store, context),
      isPerson: context.get('caller').kind === 'person',
    };
    const key = requestKey(context, 'work', context.req.valid('header')['idempotency-key']);
    const child = await forkAndExec(platform, actor, body, key);
    return context.json(await answerWork(parts, child), 200);
  });
  app.openapi(routes.fork, async (context) => {
    const body = context.req.valid('json');
    const { reference } = context.req.valid('param');
    const agent = await target(context, reference);
    const isPerson = context.get('caller').kind === 'person';
    // An agent may fork only itself, a person any agent they name.
    if (!isPerson && agent.id !== (await callerAgent(platform.store, context)).id) {
      throw new PawlError('forbidden', 'Agents may only fork themselves.');
    }
    const child = await forkAgent(platform, barrier, { agent, isPerson }, body, {
      key: requestKey(context, `fork ${reference}`, context.req.valid('header')['idempotency-key']),
      signal: context.req.raw.signal,
      switchTo: isPerson && (body.switch ?? (await platform.currentChoices()).switchOnFork),
    });
    return context.json({ agent: await agents.view(child.id) }, 200);
  });
  app.openapi(routes.killAgent, async (context) => {
    const killer = await callerAgent(platform.store, context);
    const agent = await target(context, context.req.valid('param').reference);
    const isPerson = context.get('caller').kind === 'person';
    const own = agent.id === killer.id || (await descendsFrom(db, agent.id, killer.id));
    if (!isPerson && !own) throw new PawlError('forbidden', 'Agents may only kill themselves and their descendants.');
    const { killed, resupervised } = await killAgent(
      { platform, reconciler, barrier },
      {
        target: agent,
        killer,
        cascade: context.req.valid('json').cascade ?? false,
        // An agent that kills itself could not receive the response after its end.
        waitFor: (each) => isPerson || each.id !== killer.id,
      },
    );
    const named = ({ id, alias }: Agent) => ({ id, alias });
    return context.json(
      { target: await agents.view(agent.id), killed: killed.map(named), resupervised: resupervised.map(named) },
      200,
    );
  });
}

/** Signals from a person. */
function addSignalRoutes(app: OpenAPIHono<DoorVariables>, { platform, agents, signals }: AgentRouteParts): void {
  app.openapi(routes.stopAgent, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference, 'living');
    await signals.stop(agent.id);
    return context.json({ agent: await agents.view(agent.id) }, 200);
  });
  app.openapi(routes.resumeAgent, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference, 'living');
    const { prompt, budget, searchPath, provider, model, account } = context.req.valid('json');
    // The program may have moved since the agent was created; this shell's PATH may have it.
    await personPath(platform, searchPath);
    const key = requestKey(context, `resume ${agent.id}`, context.req.valid('header')['idempotency-key']);
    await signals.resume(agent.id, prompt, key, { budget, byPerson: true, changes: { provider, model, account } });
    return context.json({ agent: await agents.view(agent.id) }, 200);
  });
  app.openapi(routes.tellAgent, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference, 'living');
    const key = requestKey(context, `tell ${agent.id}`, context.req.valid('header')['idempotency-key']);
    const channel = await signals.tell(agent.id, context.req.valid('json').message, { by: 'person', key });
    return context.json({ agent: await agents.view(agent.id), channel }, 200);
  });
  const verbs = [
    [routes.pauseAgent, signals.pause, 'living'],
    [routes.continueAgent, signals.proceed, 'living'],
    [routes.interruptAgent, signals.interrupt, 'living'],
    [routes.reapAgent, signals.reap, 'all'],
  ] as const;
  for (const [route, act, among] of verbs) {
    app.openapi(route, async (context) => {
      const agent = await agents.find(context.req.valid('param').reference, among);
      await act(agent.id);
      return context.json({ agent: await agents.view(agent.id) }, 200);
    });
  }
}

/** Routes for the history of an agent and its rights. */
function addHistoryRoutes(app: OpenAPIHono<DoorVariables>, parts: AgentRouteParts): void {
  const { platform, agents, reconciler } = parts;
  const target = targetFinder(parts);
  app.openapi(routes.history, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    selfOnly(context, agent.id);
    await reconciler.ingest.catchUp(agent.id);
    const { all, ...page } = context.req.valid('query');
    return context.json(await historyPage(platform.store, agent.id, { ...page, all: all === 'true' }), 200);
  });
  app.openapi(routes.clearHistory, async (context) => {
    const agent = await target(context, context.req.valid('param').reference);
    selfOnly(context, agent.id);
    refuseAdopted(agent);
    return context.json({ messageId: await clearHistory(platform.store, agent.id) }, 200);
  });
  app.openapi(routes.markHistory, async (context) => {
    const agent = await target(context, context.req.valid('param').reference);
    selfOnly(context, agent.id);
    refuseAdopted(agent);
    // Store output so far, so that it precedes the mark in the history.
    await reconciler.ingest.catchUp(agent.id);
    return context.json(
      { messageId: await markHistory(platform.store, agent.id, context.req.valid('json').label ?? '') },
      200,
    );
  });
  app.openapi(routes.rewindHistory, async (context) => {
    const agent = await target(context, context.req.valid('param').reference);
    selfOnly(context, agent.id);
    refuseAdopted(agent);
    const { label = null } = context.req.valid('json');
    return context.json({ messageId: await rewindHistory(platform.store, agent.id, label) }, 200);
  });
  app.openapi(routes.gate, async (context) => {
    const agent = await target(context, context.req.valid('param').reference);
    selfOnly(context, agent.id);
    return context.json(await askGate(platform, agent, context.req.valid('json')), 200);
  });
  addLockRoutes(app, platform, target);
}

/** The caller as an agent: itself or, for a person, the agent they act as. */
async function callerAgent({ db }: { db: Database }, context: Context<DoorVariables>): Promise<Agent> {
  const caller = context.get('caller');
  if (caller.kind === 'person') return currentAgent(db);
  const agent = await agentById(db, caller.agentId);
  if (agent === null) throw new PawlError('agent_not_found', 'The caller is not in the registry.');
  return agent;
}

/** Finds the agent that a request means: the caller itself, or one it names. */
function targetFinder({ platform, agents }: AgentRouteParts) {
  return (context: Context<DoorVariables>, reference: string, prefixOf: 'living' | 'all' = 'living') =>
    reference === oneself ? callerAgent(platform.store, context) : agents.find(reference, prefixOf);
}

/** A new agent, and what a person wants to know about its work. */
async function answerWork({ platform, agents, whenDone }: AgentRouteParts, agent: Agent): Promise<WorkAnswer> {
  const project = agent.projectId === null ? null : await projectById(platform.store.db, agent.projectId);
  return {
    agent: await agents.view(agent.id),
    whenDone: await whenDone(agent, project),
    baseNote: project === null ? null : await baseNoteFor(platform, project, agent),
    confinement: await platform.sandbox.confinement(platform.choices),
  };
}
