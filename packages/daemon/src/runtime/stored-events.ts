import { cutText, firstLine } from '@pawl/core/shorten';
import type { Event } from '@pawl/schema/event';
import { eventData } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import type { Mail } from '@pawl/schema/mail';
import type { Agent, Run } from '@pawl/schema/record';
import { usualThread } from '@pawl/schema/record';
import type { QueueItem, RunOutcome, RuntimePayload } from '@pawl/schema/runtime/runtime-event';
import { personName } from '@pawl/schema/runtime/runtime-event';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById } from '@pawl/store/agents/agents';
import { changesByAgent } from '@pawl/store/changes/changes';
import { mailById, waitingMail } from '@pawl/store/mail/mail';
import { userMessageAt } from '@pawl/store/sessions/messages';
import { runAtEnd, runAtStart, runById } from '@pawl/store/sessions/runs';
import { openTasks } from '@pawl/store/projects/tasks';
import { projectSettings } from '@pawl/store/projects/project-settings';
import type { Platform } from '../platform/platform.ts';
import { wholeBody } from '../mail/mail-body.ts';

/** How much of a waiting message is shown, and how many. */
const previewCharacters = 100;
const queueItems = 50;

/** The events of the runtime contract that a stored event stands for, with the run that they are about. */
export async function runtimeEventsOf(
  platform: Platform,
  event: Event,
): Promise<{ payloads: RuntimePayload[]; run: Run | null }> {
  const { db } = platform.store;
  const { type, agentId } = event;
  const agent = agentId === null ? null : await agentById(db, agentId);
  if (type === 'project.configured') return { payloads: await settings(platform, event), run: null };
  if (agent === null) return { payloads: [], run: null };
  switch (type) {
    case 'agent.forked': {
      const run = await runAtStart(db, agent.id, event.at);
      return { payloads: agent.kind === 'subagent' ? [spawned(agent, run)] : [], run };
    }
    case 'run.started': {
      const run = await runAtStart(db, agent.id, event.at);
      return { payloads: run === null ? [] : [request(platform, agent, run)], run };
    }
    case 'run.ended': {
      const run = await runAtEnd(db, agent.id, event.at);
      return { payloads: run === null ? [] : await ended(platform, agent, run), run };
    }
    case 'agent.told':
      return { payloads: await told(platform, agent, event), run: null };
    case 'change.opened':
    case 'change.moved': {
      const { changeId } = eventData['change.moved'].pick({ changeId: true }).parse(event.data);
      return { payloads: await proposed(platform, agent, changeId), run: null };
    }
    case 'mail.sent':
    case 'mail.delivered':
    case 'mail.read':
    case 'mail.returned':
    case 'mail.dead_lettered':
      return { payloads: await mailed(platform, agent, event), run: null };
    default:
      return { payloads: [], run: null };
  }
}

async function settings({ store }: Platform, { projectId, data }: Event): Promise<RuntimePayload[]> {
  if (projectId === null || data['interaction'] === undefined) return [];
  return [{ type: 'SettingsUpdated', mode: (await projectSettings(store.db, projectId)).interaction ?? 'auto' }];
}

function spawned({ id, parentId }: Agent, run: Run | null): RuntimePayload {
  const task = cutText(run?.task ?? '', limits.messageCharacters);
  return { type: 'SubagentSpawned', parent_id: parentId ?? id, subagent_id: id, task };
}

/** The message that begins a run: of its main, for a subagent; of the parent, for the first run; else of a person. */
function request({ rootId }: Platform, agent: Agent, run: Run): RuntimePayload {
  const byParent = agent.kind === 'subagent' || run.startedAt === agent.createdAt;
  const from = byParent && agent.parentId !== null && agent.parentId !== rootId ? agent.parentId : personName;
  return { type: 'Message', from, to: agent.id, content: cutText(run.task, limits.messageCharacters) };
}

async function ended(platform: Platform, agent: Agent, run: Run): Promise<RuntimePayload[]> {
  const outcome = await outcomeOf(platform, agent, run);
  const payloads: RuntimePayload[] = [{ type: 'Outcome', agent_id: agent.id, outcome }];
  if (agent.kind !== 'subagent' || agent.parentId === null) return payloads;
  // The main that would use the result has been cancelled.
  const parent = run.parentRunId === null ? null : await runById(platform.store.db, run.parentRunId);
  const dropped = parent?.outcome === 'cancelled';
  const result: RunOutcome = dropped ? { type: 'none' } : outcome;
  return [...payloads, { type: 'SubagentResult', parent_id: agent.parentId, subagent_id: agent.id, outcome: result }];
}

/** The result of a run: a planned task, a change, or neither. */
async function outcomeOf({ store }: Platform, agent: Agent, run: Run): Promise<RunOutcome> {
  if (run.outcome !== 'completed') return { type: 'none' };
  const tasks = run.projectId === null ? [] : await openTasks(store.db, run.projectId);
  const task = tasks.findLast(({ createdBy, createdAt }) => createdBy === agent.id && createdAt >= run.startedAt);
  if (task !== undefined)
    return { type: 'task', title: task.name, user_stories: [], acceptance_criteria: [], task_id: task.id };
  const [change] = await changesByAgent(store.db, agent.id);
  return change !== undefined && change.openedAt >= run.startedAt ? patchOf(change) : { type: 'none' };
}

type Proposal = { id: string; title: string; branch: string; head: string };

function patchOf({ id, title, branch, head }: Proposal): RunOutcome {
  return { type: 'patch', change_id: id, title, branch, head };
}

/** A change is often opened after its author's run has ended, so it is an outcome of its own. */
async function proposed({ store }: Platform, agent: Agent, changeId: string): Promise<RuntimePayload[]> {
  const change = (await changesByAgent(store.db, agent.id)).find(({ id }) => id === changeId);
  return change === undefined ? [] : [{ type: 'Outcome', agent_id: agent.id, outcome: patchOf(change) }];
}

/** A person's words to a running process. Others begin a run. */
async function told({ store }: Platform, agent: Agent, { at, data }: Event): Promise<RuntimePayload[]> {
  if (eventData['agent.told'].parse(data).channel !== 'live') return [];
  const message = await userMessageAt(store.db, agent.id, at);
  return message === null ? [] : [{ type: 'Message', from: personName, to: agent.id, content: message.content }];
}

/** Mail waits in the recipient's queue, and becomes a message when it is delivered. */
async function mailed(platform: Platform, to: Agent, { type, data }: Event): Promise<RuntimePayload[]> {
  const { mailId } = eventData['mail.read'].parse({ mailId: data['mailId'] });
  const mail = await mailById(platform.store.db, mailId);
  if (mail === null) return [];
  const isForPerson = to.id === platform.rootId;
  // Notices of Pawl are no conversation.
  const isSpoken = mail.kind === 'message' || mail.kind === 'question' || mail.kind === 'answer';
  const isNew = isSpoken && (type === 'mail.delivered' || (type === 'mail.sent' && isForPerson));
  return [
    ...(isNew && !(await isSaid(platform, to, mail)) ? [await mailMessage(platform, mail)] : []),
    ...(isForPerson ? [] : [await queueUpdate(platform, to)]),
  ];
}

async function mailMessage(platform: Platform, mail: Mail): Promise<RuntimePayload> {
  const name = (id: string) => (id === platform.rootId ? personName : id);
  const content = cutText(await wholeBody(platform, mail), limits.messageCharacters);
  return { type: 'Message', from: name(mail.fromId), to: name(mail.toId), content };
}

/** A person's mail to an agent that converses is the request of its run, which is a message already. */
async function isSaid({ store, rootId }: Platform, to: Agent, mail: Mail): Promise<boolean> {
  if (to.mode !== 'converse' || mail.fromId !== rootId || mail.channel !== 'turn') return false;
  const run = (await agentView(store.db, to.id))?.run ?? null;
  return run !== null && run.task.includes(mail.body.trim().slice(0, previewCharacters));
}

/** The messages that wait for an agent. */
export async function queueOf({ store }: Platform, agentId: string): Promise<QueueItem[]> {
  const waiting = await waitingMail(store.db, agentId, queueItems);
  const session = (await agentView(store.db, agentId))?.run?.sessionId ?? usualThread;
  return waiting
    .filter(({ kind }) => kind === 'message')
    .map(({ id, body, createdAt }) => ({
      id,
      agent_id: agentId,
      session_id: session,
      preview: firstLine(body, previewCharacters),
      timestamp: createdAt,
    }));
}

async function queueUpdate(platform: Platform, { id }: Agent): Promise<RuntimePayload> {
  return { type: 'QueueUpdated', agent_id: id, items: await queueOf(platform, id) };
}
