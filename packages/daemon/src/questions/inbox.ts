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
import type { Platform } from '../platform/platform.ts';
import { beginningOf } from './beginning.ts';
import { approvalItems, approvalNamed, replyToApproval } from './approval-inbox.ts';
import type { Questions } from './questions.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { Signals } from '../agents/signals.ts';

export type PersonInbox = ReturnType<typeof createInbox>;

/** The inbox of a home: questions and requests to the person, and runs that ended with questions. */
export function createInbox(platform: Platform, questions: Questions, signals: Pick<Signals, 'reply'>) {
  const { store } = platform;
  const { db } = store;
  const { deadlineMs } = platform.choices.questions;

  /** All open items, oldest first. */
  async function list(): Promise<InboxItem[]> {
    const projects = new Map((await listProjects(db)).map(({ id, name }) => [id, { id, alias: name }]));
    const items: InboxItem[] = [];
    const add = (
      agent: Agent,
      item: Omit<InboxItem, 'agent' | 'project' | 'deadlineAt'>,
      deadlineAt: number | null,
    ) => {
      const policyAt = deadlineMs === null ? null : item.askedAt + deadlineMs;
      const named = { id: agent.id, alias: agent.alias };
      const project = projects.get(agent.projectId ?? '') ?? null;
      items.push({ ...item, agent: named, project, deadlineAt: deadlineAt ?? policyAt });
    };
    for (const question of await openQuestionsTo(db, (await rootAgent(db)).id)) {
      const agent = await agentById(db, question.fromId);
      if (agent === null) continue;
      const asked = [{ id: question.id, ...beginningOf(question.question) }];
      const { id, kind, askedAt, deadlineAt } = question;
      add(agent, { id, kind, askedAt, questions: asked, owner: null, choices: [] }, deadlineAt);
    }
    for (const { agent, item, deadlineAt } of await approvalItems(db)) add(agent, item, deadlineAt);
    for (const { id } of await agentsWithQuestions(db)) {
      const facts = await agentView(db, id);
      if (facts?.run?.questions === undefined || facts.run.questions === null) continue;
      const askedAt = facts.run.endedAt ?? facts.run.startedAt;
      const questions = facts.run.questions.map((each) => ({ ...each, leftOutBytes: 0 }));
      add(facts.agent, { id, kind: 'questions', askedAt, questions, owner: null, choices: [] }, null);
    }
    return items.toSorted((a, b) => a.askedAt - b.askedAt);
  }

  /** Answers an item: a question by its id, or the open question of an agent. Returns the agent that asked. */
  async function reply(reference: string, body: ReplyBody, key: string | undefined): Promise<Agent> {
    const [asker = null] = body.allow === undefined ? [] : await findAgents(db, reference, { prefixOf: 'living' });
    const approval = await approvalNamed(db, reference, asker);
    if (approval !== null) return replyToApproval(platform, approval, body);
    const question = await askedBy(reference);
    if (question === null) {
      const agent = await agentNamed(reference);
      if (body.allow !== undefined) throw nothingToAllow(agent);
      await signals.reply(agent.id, body, { by: 'person', key });
      return agent;
    }
    if (body.notNow === true) await decline(question);
    else await questions.answer(question, answerTo(question, body));
    const agent = await agentById(db, question.fromId);
    if (agent === null) throw new PawlError('agent_not_found', `There is no agent ${question.fromId}.`);
    return agent;
  }

  async function decline(question: Question): Promise<void> {
    const ended = await store.write((tx) => questions.end(tx, question, { end: 'not-now', text: decideYourself }));
    if (ended || (await questionById(db, question.id))?.end === 'not-now') return;
    throw new PawlError('conflict', `The question ${question.id} has ended already.`);
  }

  /** The question to the person with this id, id prefix or asking agent; null if it is a run's. */
  async function askedBy(reference: string): Promise<Question | null> {
    const toPerson: Question[] = [];
    for (const question of await findQuestions(db, reference)) {
      const to = await agentById(db, question.toId);
      if (to !== null && isPerson(to)) toPerson.push(question);
    }
    const [first, ...others] = toPerson;
    if (first !== undefined && others.length === 0) return first;
    const agents = await findAgents(db, reference, { prefixOf: 'living' });
    if (first === undefined && agents.length === 1 && agents[0] !== undefined) return onlyQuestionOf(agents[0]);
    if (first === undefined) return null;
    throw new PawlError('ambiguous', `${JSON.stringify(reference)} matches more than one question.`, {
      hint: 'Give more characters of the id; see `pawl inbox`.',
    });
  }

  async function onlyQuestionOf(agent: Agent): Promise<Question | null> {
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

  async function agentNamed(reference: string): Promise<Agent> {
    return resolveAgent(reference, await findAgents(db, reference, { prefixOf: 'living' }));
  }

  /** The inbox entries of agents: questions, requests, and agents that reached a budget. */
  async function look(): Promise<{ items: InboxItem[]; entries: InboxEntry[] }> {
    const items = await list();
    const projects = new Map((await listProjects(db)).map(({ id, name }) => [id, { id, alias: name }]));
    const entries = items.map(questionEntry);
    for (const facts of await everyLivingAgent(db)) {
      const news = budgetNews(facts);
      const { id, alias, projectId } = facts.agent;
      const about = { id, agent: { id, alias }, project: projects.get(projectId ?? '') ?? null, changes: [] };
      if (news !== null) entries.push({ ...about, ...news });
    }
    return { items, entries };
  }

  return { look, reply };
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
