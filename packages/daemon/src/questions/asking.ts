import { refuseMail } from '@pawl/core/mail/mail';
import { isPerson } from '@pawl/core/mail/mail';
import { checkQuestion, cycleInWords, findCycle, refuseAsked } from '@pawl/core/questions/question';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Question } from '@pawl/schema/mail';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { insertQuestion, openQuestionsFrom, questionById } from '@pawl/store/mail/questions';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { StoredBody } from '../mail/mail-body.ts';
import { recordMail } from '../mail/mail-record.ts';
import { correspondent } from '../platform/places.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { idOfRequest, rememberRequest } from '../platform/idempotency.ts';
import { recordHeard } from './question-record.ts';
import type { FoundTarget, Target } from './question-target.ts';
import { findTarget } from './question-target.ts';
import type { Taken } from './question-waits.ts';

export type AskRequest = {
  from: Agent;
  target: Target;
  text: string;
  /** How long to wait for an answer; null means the default. */
  timeoutMs: number | null;
  /** A repeated request asks no second question. */
  key?: string | undefined;
};

type Asking =
  /** `taken` is the listener that receives it; `known` is true for a repeated request. */
  | { question: Question; known: boolean; taken: Taken | null }
  /** The aliases of agents that would wait for each other. */
  | { cycle: string[] };

type Means = {
  body: StoredBody;
  /** Takes a listener of the asked agent, if there is one. */
  take(agentId: string): Taken | null;
  end(tx: WriteTransaction, question: Question, given: { end: 'cancelled'; text: string }): Promise<boolean>;
};

/** How many agents are searched for a cycle; longer chains are not found. */
const cycleAgents = 1_000;

/**
 * Stores a question with its mail and its event, after checking all objections in the same transaction: of two agents
 * that ask each other at once, the second sees the first.
 */
export async function recordAsking(
  platform: DefinitionPlatform,
  tx: WriteTransaction,
  request: AskRequest,
  { body, take, end }: Means,
): Promise<Asking> {
  const known = await questionOfRequest(tx.db, request.key);
  if (known !== null) return { question: known, known: true, taken: null };
  const from = await agentById(tx.db, request.from.id);
  if (from === null || from.endedAt !== null) throw new PawlError('conflict', `${request.from.alias} is dead.`);
  const { asked, ...found } = await findTarget(platform, tx.db, from, request.target);
  const to = asked.agent;
  checkQuestion(from, to, request.text, (await openQuestionsFrom(tx.db, from.id)).length);
  refuseMail(await correspondent(tx.db, from), await correspondent(tx.db, to));
  const cycle = isPerson(from) || isPerson(to) ? null : await cycleOf(tx.db, from, to);
  if (cycle !== null) {
    const aliases = await aliasesOf(tx.db, from, cycle);
    for (const each of cycle) await end(tx, each, { end: 'cancelled', text: cycleInWords(aliases) });
    return { cycle: aliases };
  }
  refuseAsked(asked);
  const question = questionRecord(request, { from, to, found, body, now: tx.now });
  await recordMail(tx, { from, to, kind: 'question', questionId: question.id }, body);
  await insertQuestion(tx, question);
  const data = { questionId: question.id, mailId: question.mailId };
  tx.emit({ type: 'question.asked', projectId: question.projectId, agentId: to.id, peerId: from.id, data });
  await rememberRequest(tx, request.key, question.id);
  const taken = take(to.id);
  if (taken !== null) await recordHeard(tx, question);
  return { question, known: false, taken };
}

/** The question that an earlier request with this key asked, or null. */
export async function questionOfRequest(db: Database, key: string | undefined): Promise<Question | null> {
  const id = await idOfRequest(db, key);
  return id === null ? null : questionById(db, id);
}

function questionRecord(
  { text, timeoutMs }: AskRequest,
  given: { from: Agent; to: Agent; found: Omit<FoundTarget, 'asked'>; body: StoredBody; now: number },
): Question {
  // A question to a person has the policy's deadline, which may change, unless one was given.
  const waitMs = timeoutMs ?? (isPerson(given.to) ? null : limits.questionMs);
  return {
    id: newId(),
    projectId: given.to.projectId ?? given.from.projectId,
    fromId: given.from.id,
    toId: given.to.id,
    kind: 'question',
    question: text,
    mailId: given.body.id,
    taskId: given.found.taskId,
    phase: given.found.phase,
    askedAt: given.now,
    deadlineAt: waitMs === null ? null : given.now + waitMs,
    listenedUntil: null,
    endedAt: null,
    end: null,
    answer: null,
    toldAt: null,
    answerMailId: null,
  };
}

/** The open questions that make the asked agent wait for the asker. */
async function cycleOf(db: Database, from: Agent, to: Agent): Promise<Question[] | null> {
  const open: Question[] = [];
  const reached = new Set([to.id]);
  for (const agentId of reached) {
    if (reached.size > cycleAgents) break;
    for (const question of await openQuestionsFrom(db, agentId)) {
      open.push(question);
      reached.add(question.toId);
    }
  }
  return findCycle(open, from.id, to.id);
}

async function aliasesOf(db: Database, from: Agent, cycle: readonly Question[]): Promise<string[]> {
  const aliases = [from.alias];
  for (const { fromId } of cycle) aliases.push((await agentById(db, fromId))?.alias ?? fromId);
  return aliases;
}
