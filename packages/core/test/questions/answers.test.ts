import { PawlError } from '@pawl/schema/error';
import { expect, test } from 'vitest';
import { answersTo } from '../../src/questions/answers.ts';

const one = [{ id: 'db', question: 'Which database?' }];
const two = [...one, { id: 'port', question: 'Which port?' }];
const list = 'They are:\ndb: Which database?\nport: Which port?';

test.each<[string, typeof two, Parameters<typeof answersTo>[1], Record<string, string>]>([
  ['one text answers a single question', one, { answer: 'SQLite' }, { db: 'SQLite' }],
  ['and wins over answers by id', one, { answer: 'SQLite', answers: { db: 'Postgres' } }, { db: 'SQLite' }],
  ['each is answered by its id', two, { answers: { db: 'SQLite', port: '1' } }, { db: 'SQLite', port: '1' }],
  ['no question needs no answer', [], {}, {}],
])('%s', (_, questions, given, answers) => {
  expect(answersTo(questions, given)).toEqual(answers);
});

test.each<[string, typeof two, Parameters<typeof answersTo>[1], string, string, string]>([
  ['one text for two', two, { answer: 'x' }, 'needs_input', '2 questions', `--answer db="…". ${list}`],
  ['an unknown id', two, { answers: { db: 'x', port: '1', nope: '', none: 'y' } }, 'invalid_input', 'nope, none', list],
  ['no answer', two, {}, 'needs_input', 'Not answered: db, port.', list],
  ['one that is missing', two, { answers: { port: '1' } }, 'needs_input', 'Not answered: db.', list],
  ['one that is blank', two, { answers: { db: ' \n', port: '1' } }, 'needs_input', 'Not answered: db.', list],
  ['a blank text', one, { answer: ' ' }, 'needs_input', 'Not answered: db.', 'db: Which database?'],
])('%s is refused, with the questions', (_, questions, given, code, message, hint) => {
  const refusal = () => {
    try {
      return answersTo(questions, given);
    } catch (error) {
      return error;
    }
  };
  const error = refusal();
  expect(error).toBeInstanceOf(PawlError);
  expect(error).toMatchObject({
    code,
    message: expect.stringContaining(message) as string,
    hint: expect.stringContaining(hint) as string,
  });
});
