import { PawlError } from '@pawl/schema/error';
import type { Run } from '@pawl/schema/record';

/**
 * Matches answers to an agent's questions by id. A single text answers a single question. Every question must be
 * answered, and unknown ids are refused.
 */
export function answersTo(
  questions: NonNullable<Run['questions']>,
  given: { answers?: Record<string, string> | undefined; answer?: string | undefined },
): Record<string, string> {
  const [first, ...others] = questions;
  const asked = questions.map(({ id, question }) => `${id}: ${question}`).join('\n');
  if (given.answer !== undefined && others.length > 0) {
    throw new PawlError('needs_input', `There are ${questions.length} questions, and a single answer fits only one.`, {
      hint: `Answer each by its id, such as --answer ${first?.id ?? 'q1'}="…". They are:\n${asked}`,
    });
  }
  const answers =
    given.answer !== undefined && first !== undefined ? { [first.id]: given.answer } : { ...given.answers };
  const unknown = Object.keys(answers).filter((id) => !questions.some((question) => question.id === id));
  if (unknown.length > 0) {
    throw new PawlError('invalid_input', `No question has the id ${unknown.join(', ')}.`, {
      hint: `They are:\n${asked}`,
    });
  }
  const open = questions.filter(({ id }) => (answers[id] ?? '').trim() === '');
  if (open.length === 0) return answers;
  throw new PawlError('needs_input', `Not answered: ${open.map(({ id }) => id).join(', ')}.`, {
    hint: `They are:\n${asked}`,
  });
}
