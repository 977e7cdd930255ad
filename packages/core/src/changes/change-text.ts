import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { cutText, firstLine } from '../shorten.ts';

/** Validates text about a change. Too long is an error; nothing is cut. */
export function checkChangeText(what: string, given: string, characters: number = limits.changeTextCharacters): string {
  const text = given.toWellFormed().trim();
  if (text.includes('\0')) throw new PawlError('invalid_input', `The ${what} contains a NUL character.`);
  if (text.length <= characters) return text;
  throw new PawlError('too_large', `The ${what} may have at most ${characters} characters.`, {
    hint: 'Commit the rest as a file, and name that file.',
  });
}

/** Like `checkChangeText`, but not empty. */
export function requireChangeText(what: string, given: string, characters?: number): string {
  const text = checkChangeText(what, given, characters);
  if (text === '') throw new PawlError('invalid_input', `The ${what} is empty.`);
  return text;
}

/** Validates a title: one line, since it appears in commits and lists. */
export function checkTitle(given: string): string {
  const title = requireChangeText('title', given, limits.changeTitleCharacters);
  if (!/[\n\r\u2028\u2029]/.test(title)) return oneLine(title);
  throw new PawlError('invalid_input', 'A title must be one line.', { hint: 'Put the rest into the summary.' });
}

/** The default title of a change: the first line of the first non-empty text. */
export function titleFrom(candidates: readonly (string | null)[]): string {
  for (const candidate of candidates) {
    const title = oneLine(firstLine((candidate ?? '').toWellFormed(), limits.changeTitleCharacters));
    if (title !== '') return title;
  }
  return 'A change without a title';
}

/**
 * The default title of work: the subject of its only commit; with several commits, the assignment, else the newest
 * subject.
 */
export function titleOfWork(work: { subject: string; isOnly: boolean; assignment: string | null }): string {
  const { subject, isOnly, assignment } = work;
  return titleFrom(isOnly ? [subject, assignment] : [assignment, subject]);
}

/** Makes a summary from text that was not written as one, such as an agent's last words; cuts what is too long. */
export function summaryFrom(text: string): string {
  return cutText(text.toWellFormed().replaceAll('\0', '').trim(), limits.changeTextCharacters);
}

/** Replaces control characters, since others print this line. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
