import { checkTask } from '@pawl/core/plan/task';
import { formatAnswers, formatUnanswered } from '@pawl/core/prompts/follow-up';
import { answersTo } from '@pawl/core/questions/answers';
import { sendInput } from '@pawl/host/session/input';
import type { ReplyBody } from '@pawl/protocol/agents/verb-view';
import { userTurnLine } from '@pawl/wire/claude-input';
import { PawlError } from '@pawl/schema/error';
import type { NewEvent } from '@pawl/schema/event';
import type { Agent, Run } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById } from '@pawl/store/agents/agents';
import { appendMessage } from '@pawl/store/sessions/messages';
import { sessionsThatSpoke } from '@pawl/store/sessions/sessions';
import { agentOfRequest, rememberRequest } from '../../platform/idempotency.ts';
import { sessionDirectory } from '../../platform/platform.ts';
import { refuseResume, resume } from './resume.ts';
import type { SignalParts } from './signal-parts.ts';
import { stop } from './stop.ts';

/**
 * Sends a message to an agent: to the running process if its provider listens while it works, else by ending the turn
 * and resuming it with the message.
 */
export async function tell(
  parts: SignalParts,
  agentId: string,
  message: string,
  { by, key }: { by: string; key: string | undefined },
): Promise<'live' | 'resumed'> {
  const { db } = parts.platform.store;
  checkTask(message);
  const known = await agentById(db, agentId);
  if (known === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
  refuseResume(known);
  if ((await agentOfRequest(db, key)) !== null) return 'resumed';
  if (await tellLive(parts, agentId, message, { by, key })) return 'live';
  const facts = await agentView(db, agentId);
  const unheard = facts?.run?.outcome === null && !(await hasSpoken(parts, facts.run)) ? facts.run.task : null;
  if (facts?.run?.outcome === null) await stop(parts, agentId);
  const event = toldEvent(known, by, 'resumed');
  // Include earlier messages that were never delivered.
  await resume(parts, agentId, unheard === null ? message : `${unheard}\n\n${message}`, key, {
    told: event,
    byPerson: by === 'person',
  });
  return 'resumed';
}

/** Resumes an agent with the answers to its questions, or tells it that there are none. */
export async function reply(
  parts: SignalParts,
  agentId: string,
  body: ReplyBody,
  { by, key }: { by: string; key: string | undefined },
): Promise<void> {
  const { db } = parts.platform.store;
  if ((await agentOfRequest(db, key)) !== null) return;
  const facts = await agentView(db, agentId);
  if (facts === null) throw new PawlError('agent_not_found', `There is no agent ${agentId}.`);
  const questions = facts.run?.outcome === 'completed' ? facts.run.questions : null;
  if (questions === null) {
    throw new PawlError('conflict', `${facts.agent.alias} has no open question.`, {
      hint: `To send it a message: pawl resume ${facts.agent.alias} "…"`,
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
  await resume(parts, agentId, said, key, { told });
}

async function hasSpoken({ platform, reconciler }: SignalParts, run: Run): Promise<boolean> {
  await reconciler.ingest.catchUp(run.agentId);
  return (await sessionsThatSpoke(platform.store.db, run.agentId)).some((session) => session.runId === run.id);
}

/** Sends a message to the running process; false if none would read it. */
async function tellLive(
  { platform, reconciler }: SignalParts,
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
      await sendInput(platform.host, sessionDirectory(platform.home, session.id), userTurnLine(message));
    } catch (error) {
      // Its turn has just ended, so the process no longer reads.
      if (error instanceof PawlError && error.code === 'conflict') return false;
      throw error;
    }
    await platform.store.write(async (tx) => {
      const { runId, id: sessionId } = session;
      await appendMessage(tx, { agentId, runId, sessionId, kind: 'user', content: message });
      tx.emit(toldEvent(agent, by, 'live'));
      await rememberRequest(tx, key, agentId);
    });
    return true;
  });
  return heard ?? false;
}

function toldEvent(agent: Agent, by: string, channel: 'live' | 'resumed'): NewEvent {
  return { type: 'agent.told', projectId: agent.projectId, agentId: agent.id, data: { by, channel } };
}
