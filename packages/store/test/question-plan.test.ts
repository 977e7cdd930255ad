import { newId } from '@pawl/schema/id';
import type { Question as Asked } from '@pawl/schema/mail';
import {
  agentsInPhase,
  agentsWithQuestions,
  findQuestions,
  firstUnclaimed,
  mailsOfEndedQuestions,
  mailsOfQuestion,
  nextDue,
  openQuestions,
  openQuestionsFrom,
  openQuestionsTo,
  untoldEnds,
} from '@pawl/store/mail/questions';
import { test } from 'vitest';
import { addTeam } from './fixture.ts';
import { databasePath, expectPlans } from './query-plan.ts';
import type { Question } from './query-plan.ts';

const id = newId();
const known = { id, toId: id, mailId: id } as Asked;

/** Queries over all questions ever asked; see `query-plan.test.ts`. */
const questions: Question[] = [
  {
    name: 'a question by the start of its id',
    ask: (db) => findQuestions(db, id.slice(0, 8)),
    plan: [
      'questions USING INDEX sqlite_autoindex_questions_1 (id=?)',
      'questions USING INDEX sqlite_autoindex_questions_1 (id>? AND id<?)',
    ],
  },
  {
    name: 'the open questions to an agent',
    ask: (db) => openQuestionsTo(db, id),
    plan: ['questions USING INDEX questions_open_to (to_id=?)'],
  },
  {
    name: 'the open questions of an agent',
    ask: (db) => openQuestionsFrom(db, id),
    plan: ['questions USING INDEX questions_open_from (from_id=?)'],
  },
  { name: 'all open questions', ask: (db) => openQuestions(db), plan: ['questions USING INDEX questions_open_to'] },
  {
    name: 'the next page of them',
    ask: (db) => openQuestions(db, known),
    plan: ['questions USING INDEX questions_open_to', 'known USING COVERING INDEX sqlite_autoindex_questions_1 (id=?)'],
  },
  { name: 'what is due next', ask: (db) => nextDue(db, 1), plan: ['questions USING INDEX questions_open_from'] },
  {
    name: 'the first question for a listener',
    ask: (db) => firstUnclaimed(db, id, 1),
    plan: ['questions USING INDEX questions_open_to (to_id=?)'],
  },
  {
    name: 'ends that nobody was told',
    ask: (db) => untoldEnds(db),
    plan: ['questions USING INDEX questions_untold'],
  },
  {
    name: 'the mails of a question',
    ask: (db) => mailsOfQuestion(db, known),
    plan: ['mail USING INDEX mail_of_question (question_id=?)'],
  },
  {
    name: 'mail that asks what nobody wants to know any more',
    ask: (db) => mailsOfEndedQuestions(db),
    plan: ['mail USING INDEX mail_asking', 'questions USING INDEX sqlite_autoindex_questions_1 (id=?)'],
  },
  {
    name: 'who works in a phase',
    ask: (db) => agentsInPhase(db, 'one', id),
    plan: ['agents USING INDEX agents_living', 'tasks USING INDEX sqlite_autoindex_tasks_1 (id=?)'],
  },
  {
    name: 'who waits for a person',
    ask: (db) => agentsWithQuestions(db),
    plan: ['agents USING INDEX agents_living', 'runs USING INDEX sqlite_autoindex_runs_1 (id=?)', 'sort'],
  },
];

test('every question query uses an index', async () => {
  const path = await databasePath((store) => addTeam(store));
  await expectPlans(path, questions);
});
