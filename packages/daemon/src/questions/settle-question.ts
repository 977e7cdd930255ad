import type { Judgement } from '@pawl/core/questions/question-judgement';
import { judgeQuestion } from '@pawl/core/questions/question-judgement';
import { firstLine } from '@pawl/core/shorten';
import { limits } from '@pawl/schema/limit';
import type { Question } from '@pawl/schema/mail';
import { agentView } from '@pawl/store/agents/agent-views';
import {
  mailsOfQuestion,
  openQuestions,
  openQuestionsFrom,
  openQuestionsTo,
  questionById,
} from '@pawl/store/mail/questions';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { recordReminder } from './question-record.ts';
import { askedFacts } from './question-target.ts';
import type { Questions } from './questions.ts';
import { isParked, park } from './unanswered.ts';

type SettleParts = { platform: DefinitionPlatform; questions: Pick<Questions, 'end'> };

/** Settles all open questions that are due. */
export async function settleAllQuestions(parts: SettleParts, now: number): Promise<void> {
  const { db } = parts.platform.store;
  for (let page = await openQuestions(db); page.length > 0;) {
    for (const question of page) await settleQuestion(parts, question, now);
    page = page.length < limits.pageRows ? [] : await openQuestions(db, page.at(-1) ?? null);
  }
}

/** Settles the questions to an agent and from it. */
export async function settleQuestionsOf(parts: SettleParts, agentId: string): Promise<void> {
  const { store, clock } = parts.platform;
  const now = clock();
  for (const question of await openQuestionsTo(store.db, agentId)) await settleQuestion(parts, question, now);
  for (const question of await openQuestionsFrom(store.db, agentId)) await settleQuestion(parts, question, now);
}

/** Settles one question. Checks the facts without a transaction first: mostly nothing is due. */
async function settleQuestion({ platform, questions }: SettleParts, known: Question, now: number): Promise<void> {
  const { store } = platform;
  if ((await judged(platform, store.db, known, now)).do === 'keep') return;
  await store.write(async (tx) => {
    const question = await questionById(tx.db, known.id);
    if (question === null || question.endedAt !== null) return;
    await apply(tx, questions, question, await judged(platform, tx.db, question, now));
  });
}

async function judged(platform: DefinitionPlatform, db: Database, question: Question, now: number): Promise<Judgement> {
  const [from, to] = [await agentView(db, question.fromId), await agentView(db, question.toId)];
  if (from === null || to === null) return { do: 'keep' };
  const asked = await askedFacts(platform, db, to.agent);
  const mails = await mailsOfQuestion(db, question);
  const judgement = judgeQuestion({ question, from, to: asked, mails }, platform.choices.questions, now);
  return judgement.do === 'park' && (await isParked(db, question.id)) ? { do: 'keep' } : judgement;
}

async function apply(
  tx: WriteTransaction,
  questions: SettleParts['questions'],
  question: Question,
  judgement: Judgement,
): Promise<void> {
  const asker = (await agentView(tx.db, question.fromId))?.agent;
  if (asker === undefined) return;
  const excerpt = firstLine(question.question, limits.labelCharacters);
  switch (judgement.do) {
    case 'keep':
      return;
    case 'remind':
      return recordReminder(tx, question);
    case 'park':
      await park(tx, question.id, asker, `it asked the person, and has no answer so far: ${excerpt}`);
      return;
    case 'end': {
      const { end, text } = judgement;
      if (end === 'answered') return;
      await questions.end(tx, question, { end, text });
    }
  }
}
