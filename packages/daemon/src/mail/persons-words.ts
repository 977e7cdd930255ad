import type { Mail } from '@pawl/schema/mail';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { together } from './hand-over.ts';
import type { Platform } from '../platform/platform.ts';
import { wholeBody } from './mail-body.ts';

type Said = { mail: Mail; text: string };

/** The mail of a person among some mails, whole, in the order in which it was sent. */
async function personsWords(platform: Platform, mails: readonly Mail[]): Promise<Said[]> {
  const written = mails.filter(({ kind, fromId }) => kind === 'message' && fromId === platform.rootId);
  return Promise.all(written.map(async (mail) => ({ mail, text: (await wholeBody(platform, mail)).trim() })));
}

/** Several messages as one turn. */
function joinedWords(said: readonly Said[]): string {
  return said.map(({ text }) => text).join('\n\n');
}

/** The task of a conversation's next turn: as many of the person's waiting words as one turn takes; null when there are none. */
export async function taskOfWords(platform: Platform, waiting: readonly Mail[]): Promise<string | null> {
  const words = await personsWords(platform, waiting.slice(0, limits.mailPerTurn));
  const taken = together(words.map(({ mail }) => mail)).length;
  return taken === 0 ? null : joinedWords(words.slice(0, taken));
}

/** The mails that a conversation's turn consists of already, so that they are not shown a second time. */
export async function mailsInTurn(
  platform: Platform,
  agent: Agent,
  task: string,
  mails: readonly Mail[],
): Promise<Mail[]> {
  if (agent.mode !== 'converse') return [];
  const said = await personsWords(platform, mails);
  for (let count = said.length; count > 0; count--) {
    const first = said.slice(0, count);
    if (joinedWords(first) === task) return first.map(({ mail }) => mail);
  }
  return [];
}
