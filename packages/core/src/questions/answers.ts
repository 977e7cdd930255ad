import { PawlError } from '@pawl/schema/error';
import type { Run } from '@pawl/schema/record';

/**
 * The answers to an agent's questions, by the questions' ids. One text alone answers a single question. Every question has
 * to be answered, and nothing else can be.
 */
export function answersTo(
  questions: NonNullable<Run['questions']>,
  given: { answers?: Record<string, string> | undefined; answer?: string | undefined },
): Record<string, string> {
  const [first, ...others] = questions;
  const asked = questions.map(({ id, question }) => `${id}: ${question}`).join('\n');
  if (given.answer !== undefined && others.length > 0) {
    throw new PawlError('needs_input', `There are ${questions.length} questions, and one answer fits one only.`, {
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
