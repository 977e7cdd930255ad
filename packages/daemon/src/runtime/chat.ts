import { parseChat } from '@pawl/core/runtime/chat-command';
import type { ChatAnswer, ChatBody } from '@pawl/protocol/runtime/view';
import type { Definition } from '@pawl/schema/definition';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Project } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { livingMains } from '@pawl/store/agents/family';
import { mailById } from '@pawl/store/mail/mail';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { Agents } from '../agents/agents.ts';
import { forkAndExec } from '../agents/fork.ts';
import type { Signals } from '../agents/signals.ts';
import { refuseResume } from '../agents/signals/resume.ts';
import type { MailRoom } from '../mail/mail.ts';
import { agentOfRequest, idempotencyKeys } from '../platform/idempotency.ts';
import { rootAgent } from '../platform/root-agent.ts';
import { personPath } from '../platform/search-path.ts';
import { currentAgent } from '../registry/current-agent.ts';
import { changeInteraction } from './runtime-settings.ts';
import { queueOf } from './stored-events.ts';

export type ChatParts = { platform: SessionPlatform; agents: Agents; signals: Signals; mailRoom: MailRoom };

/** The definition of the agent that a person talks to if they name none. */
const usualDefinition = 'workspace';

/** The recipient of a message: a living agent, or a definition of which to start one. */
type Recipient = { agent: Agent } | { definition: Definition; project: Project };

/** Hands a person's message to an agent: begins a run, or queues it if the agent is busy. */
export async function chat(
  parts: ChatParts,
  project: Project | null,
  body: ChatBody,
  key: string | undefined,
): Promise<ChatAnswer> {
  const request = parseChat(body.message);
  if (request.kind === 'mode') {
    if (project === null) throw noProject();
    await changeInteraction(parts.platform, project, request.mode);
    return { ...nobody, status: 'mode', mode: request.mode };
  }
  const earlier = await answerBefore(parts, key);
  if (earlier !== null) return earlier;
  const routed = request.agent === null ? null : await findRecipient(parts, project, request.agent, body.session_id);
  const text = routed === null ? body.message : request.text;
  const to = routed ?? (await usualRecipient(parts, project, body));
  if ('agent' in to) return say(parts, to.agent, { text, body, key });
  return begin(parts, to, { text, body, key });
}

const nobody = { agent_id: null, agent: null, session_id: null, run_id: null, queue: [] };

type Words = { text: string; body: ChatBody; key: string | undefined };

/** The answer to the same request, if it was sent before. */
async function answerBefore(parts: ChatParts, key: string | undefined): Promise<ChatAnswer | null> {
  const { db } = parts.platform.store;
  const agent = await agentOfRequest(db, key);
  if (agent !== null) return answer(parts, agent.id, 'started');
  const mailIds = key === undefined ? null : ((await idempotencyKeys.get(db, { key }))?.mailIds ?? null);
  const mail = mailIds?.[0] === undefined ? null : await mailById(db, mailIds[0]);
  return mail === null ? null : answer(parts, mail.toId, 'queued');
}

async function usualRecipient(parts: ChatParts, project: Project | null, body: ChatBody): Promise<Recipient> {
  if (body.agent_id !== undefined) {
    const named = await findRecipient(parts, project, body.agent_id, body.session_id);
    if (named !== null) return named;
    // Throws the usual error, with advice.
    return { agent: await parts.agents.find(body.agent_id, 'living') };
  }
  const current = await currentAgent(parts.platform.store.db);
  if (current.parentId !== null) return { agent: current };
  if (project === null) throw noProject();
  const usual = await findRecipient(parts, project, usualDefinition, body.session_id);
  if (usual !== null) return usual;
  throw new PawlError('invalid_input', 'No agent given.', { hint: 'Name one in agent_id; see GET /api/agents.' });
}

/** The living agent with this name, else the agent of this definition, else the definition; null if there is none. */
async function findRecipient(
  { platform, agents }: ChatParts,
  project: Project | null,
  name: string,
  thread: string | undefined,
): Promise<Recipient | null> {
  const named = await agents.find(name, 'living').catch((error: unknown) => {
    if (error instanceof PawlError && error.code === 'agent_not_found') return null;
    throw error;
  });
  if (named !== null && named.endedAt === null) return { agent: named };
  if (project === null) return null;
  const { definitions } = await platform.definitions.load(project);
  const definition = definitions.get(name.toLowerCase());
  if (definition === undefined) return null;
  if (definition.kind === 'subagent') throw subagentSpokenTo(definition.id);
  const mains = (await livingMains(platform.store.db, project.id)).filter(
    (agent) => agent.definition === definition.id && agent.adopted === null && agent.completion === null,
  );
  for (const agent of mains.toReversed()) {
    const run = (await agentView(platform.store.db, agent.id))?.run ?? null;
    if (thread === undefined || run === null || run.sessionId === thread) return { agent };
  }
  return { definition, project };
}

async function begin(
  parts: ChatParts,
  { definition, project }: { definition: Definition; project: Project },
  { text, body, key }: Words,
): Promise<ChatAnswer> {
  const { session_id: sessionId, searchPath, provider, model, environment } = body;
  const actor = { agent: await rootAgent(parts.platform.store.db), isPerson: true };
  const work = {
    path: project.root,
    task: text,
    definition: definition.id,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(searchPath === undefined ? {} : { searchPath }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(environment === undefined ? {} : { environment }),
  };
  const agent = await forkAndExec(parts.platform, actor, work, key);
  return answer(parts, agent.id, 'started');
}

async function say(parts: ChatParts, agent: Agent, { text, body, key }: Words): Promise<ChatAnswer> {
  if (agent.kind === 'subagent') throw subagentSpokenTo(agent.alias);
  refuseResume(agent);
  const facts = await agentView(parts.platform.store.db, agent.id);
  if (facts?.run?.outcome !== null && facts?.run !== undefined) {
    await personPath(parts.platform, body.searchPath);
    const sessionId = body.session_id;
    try {
      await parts.signals.resume(agent.id, text, key, { byPerson: true, ...(sessionId && { sessionId }) });
      return await answer(parts, agent.id, 'started');
    } catch (error) {
      // It may have begun a run meanwhile.
      const now = (await agentView(parts.platform.store.db, agent.id))?.run ?? null;
      if (!(error instanceof PawlError) || error.code !== 'conflict' || now?.outcome !== null) throw error;
    }
  }
  await parts.mailRoom.send({ from: await rootAgent(parts.platform.store.db), to: agent, body: text, key });
  return answer(parts, agent.id, 'queued');
}

async function answer({ platform }: ChatParts, agentId: string, status: 'started' | 'queued'): Promise<ChatAnswer> {
  const facts = await agentView(platform.store.db, agentId);
  return {
    status,
    agent_id: agentId,
    agent: facts?.agent.alias ?? null,
    session_id: facts?.run?.sessionId ?? null,
    run_id: facts?.run?.id ?? null,
    queue: await queueOf(platform, agentId),
  };
}

function subagentSpokenTo(name: string): PawlError {
  return new PawlError('invalid_input', `${name} is a subagent: it works for a main agent, not for a person.`, {
    hint: 'Talk to its main agent, which may delegate to it.',
  });
}

function noProject(): PawlError {
  return new PawlError('invalid_input', 'No project given.', { hint: 'Name it in project_root.' });
}
