import { budgetNews } from '@pawl/core/questions/inbox';
import { isPerson } from '@pawl/core/mail/mail';
import { decideYourself } from '@pawl/core/questions/question-judgement';
import { resolveAgent } from '@pawl/core/agents/resolve';
import { firstLine } from '@pawl/core/shorten';
import type { ReplyBody } from '@pawl/protocol/agents/verb-view';
import type { InboxEntry, InboxItem } from '@pawl/protocol/questions/view';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Question } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { agentView, everyLivingAgent } from '@pawl/store/agents/agent-views';
import { agentById, findAgents } from '@pawl/store/agents/agents';
import { listProjects } from '@pawl/store/projects/projects';
import {
  agentsWithQuestions,
  findQuestions,
  openQuestionsFrom,
  openQuestionsTo,
  questionById,
} from '@pawl/store/mail/questions';
import type { Database } from '@pawl/store/tables';
import type { Platform } from '../platform/platform.ts';
import { beginningOf } from './beginning.ts';
import type { AskedItem } from './approval-inbox.ts';
import { approvalItems, approvalNamed, replyToApproval } from './approval-inbox.ts';
import type { Questions } from './questions.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { Signals } from '../agents/signals.ts';

export type PersonInbox = ReturnType<typeof createInbox>;

type InboxContext = { platform: Platform; questions: Questions; signals: Pick<Signals, 'reply'> };

/** The inbox of a home: questions and requests to the person, and runs that ended with questions. */
export function createInbox(platform: Platform, questions: Questions, signals: Pick<Signals, 'reply'>) {
  const context: InboxContext = { platform, questions, signals };
  return {
    /** The inbox entries of agents: questions, requests, and agents that reached a budget. */
    look: () => look(platform),

    /** Answers an item: a question by its id, or the open question of an agent. Returns the agent that asked. */
    reply: (reference: string, body: ReplyBody, key: string | undefined) => reply(context, reference, body, key),
  };
}

async function look(platform: Platform): Promise<{ items: InboxItem[]; entries: InboxEntry[] }> {
  const { db } = platform.store;
  const items = await openItems(platform);
  const projects = await projectNames(db);
  const entries = items.map(questionEntry);
  for (const facts of await everyLivingAgent(db)) {
    const news = budgetNews(facts);
    const { id, alias, projectId } = facts.agent;
    const about = { id, agent: { id, alias }, project: projects.get(projectId ?? '') ?? null, changes: [] };
    if (news !== null) entries.push({ ...about, ...news });
  }
  return { items, entries };
}

/** All open items, oldest first. */
async function openItems(platform: Platform): Promise<InboxItem[]> {
  const { db } = platform.store;
  const { deadlineMs } = platform.choices.questions;
  const projects = await projectNames(db);
  const found = [...(await questionItems(db)), ...(await approvalItems(db)), ...(await runItems(db))];
  const items = found.map(({ agent, item, deadlineAt }) => ({
    ...item,
    agent: { id: agent.id, alias: agent.alias },
    project: projects.get(agent.projectId ?? '') ?? null,
    deadlineAt: deadlineAt ?? (deadlineMs === null ? null : item.askedAt + deadlineMs),
  }));
  return items.toSorted((a, b) => a.askedAt - b.askedAt);
}

async function projectNames(db: Database): Promise<Map<string, { id: string; alias: string }>> {
  return new Map((await listProjects(db)).map(({ id, name }) => [id, { id, alias: name }]));
}

/** Open questions to the person. */
async function questionItems(db: Database): Promise<AskedItem[]> {
  const found: AskedItem[] = [];
  for (const question of await openQuestionsTo(db, (await rootAgent(db)).id)) {
    const agent = await agentById(db, question.fromId);
    if (agent === null) continue;
    const { id, kind, askedAt, deadlineAt } = question;
    const questions = [{ id, ...beginningOf(question.question) }];
    found.push({ agent, item: { id, kind, askedAt, questions, owner: null, choices: [] }, deadlineAt });
  }
  return found;
}

/** Runs that ended with questions. */
async function runItems(db: Database): Promise<AskedItem[]> {
  const found: AskedItem[] = [];
  for (const { id } of await agentsWithQuestions(db)) {
    const facts = await agentView(db, id);
    if (facts?.run?.questions === undefined || facts.run.questions === null) continue;
    const askedAt = facts.run.endedAt ?? facts.run.startedAt;
    const questions = facts.run.questions.map((each) => ({ ...each, leftOutBytes: 0 }));
    const item = { id, kind: 'questions' as const, askedAt, questions, owner: null, choices: [] };
    found.push({ agent: facts.agent, item, deadlineAt: null });
  }
  return found;
}

async function reply(
  { platform, questions, signals }: InboxContext,
  reference: string,
  body: ReplyBody,
  key: string | undefined,
): Promise<Agent> {
  const { db } = platform.store;
  const [asker = null] = body.allow === undefined ? [] : await findAgents(db, reference, { prefixOf: 'living' });
  const approval = await approvalNamed(db, reference, asker);
  if (approval !== null) return replyToApproval(platform, approval, body);
  const question = await askedBy(db, reference);
  if (question === null) {
    const agent = resolveAgent(reference, await findAgents(db, reference, { prefixOf: 'living' }));
    if (body.allow !== undefined) throw nothingToAllow(agent);
    await signals.reply(agent.id, body, { by: 'person', key });
    return agent;
  }
  if (body.notNow === true) await decline(platform, questions, question);
  else await questions.answer(question, answerTo(question, body));
  const agent = await agentById(db, question.fromId);
  if (agent === null) throw new PawlError('agent_not_found', `There is no agent ${question.fromId}.`);
  return agent;
}

async function decline({ store }: Platform, questions: Questions, question: Question): Promise<void> {
  const ended = await store.write((tx) => questions.end(tx, question, { end: 'not-now', text: decideYourself }));
  if (ended || (await questionById(store.db, question.id))?.end === 'not-now') return;
  throw new PawlError('conflict', `The question ${question.id} has ended already.`);
}

/** The question to the person with this id, id prefix or asking agent; null if it is a run's. */
async function askedBy(db: Database, reference: string): Promise<Question | null> {
  const toPerson: Question[] = [];
  for (const question of await findQuestions(db, reference)) {
    const to = await agentById(db, question.toId);
    if (to !== null && isPerson(to)) toPerson.push(question);
  }
  const [first, ...others] = toPerson;
  if (first !== undefined && others.length === 0) return first;
  const agents = await findAgents(db, reference, { prefixOf: 'living' });
  if (first === undefined && agents.length === 1 && agents[0] !== undefined) return onlyQuestionOf(db, agents[0]);
  if (first === undefined) return null;
  throw new PawlError('ambiguous', `${JSON.stringify(reference)} matches more than one question.`, {
    hint: 'Give more characters of the id; see `pawl inbox`.',
  });
}

async function onlyQuestionOf(db: Database, agent: Agent): Promise<Question | null> {
  // A run that ended with questions comes first, since the agent then waits for nothing else.
  const run = (await agentView(db, agent.id))?.run ?? null;
  if (run !== null && run.outcome === 'completed' && run.questions !== null) return null;
  const root = await rootAgent(db);
  const [first, ...others] = (await openQuestionsFrom(db, agent.id)).filter(({ toId }) => toId === root.id);
  if (first === undefined || others.length === 0) return first ?? null;
  const ids = [first, ...others].map(({ id, question }) => `${id}: ${firstLine(question, 80)}`).join('\n');
  throw new PawlError('ambiguous', `${agent.alias} has asked more than one question.`, {
    hint: `Answer each by its id:\n${ids}`,
  });
}

function questionEntry(item: InboxItem): InboxEntry {
  const { id, kind, agent, project, askedAt, questions } = item;
  const [first] = questions;
  const text = firstLine(first?.question ?? '', limits.taskNameCharacters);
  const detail = questions.length > 1 ? `and ${questions.length - 1} more` : '';
  const next = [`pawl reply ${replyWords(item)}`];
  return { kind, id, agent, project, changes: [], since: askedAt, text, detail, next };
}

function replyWords({ id, kind, agent, questions, choices }: InboxItem): string {
  if (kind === 'permission') return `${id} ${choices.map(({ option }) => option).join(' | ')}`;
  return `${kind === 'questions' ? agent.alias : id} ${questions.length > 1 ? '--answer <id>=<text>' : '"…"'}`;
}

function answerTo(question: Question, { answer, answers, allow }: ReplyBody): string {
  if (allow !== undefined) throw new PawlError('invalid_input', 'This is a question, not a request for permission.');
  const text = answer ?? (answers === undefined ? undefined : Object.values(answers)[0]);
  if (text !== undefined && (answers === undefined || Object.keys(answers).length === 1)) return text;
  throw new PawlError('needs_input', 'This question takes one answer.', { hint: `pawl reply ${question.id} "…"` });
}

function nothingToAllow(agent: Agent): PawlError {
  return new PawlError('conflict', `${agent.alias} has not asked for permission.`, { hint: 'See `pawl inbox`.' });
}
