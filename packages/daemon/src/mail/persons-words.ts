import type { Mail } from '@pawl/schema/mail';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { together } from './hand-over.ts';
import type { Workshop } from '../platform/workshop.ts';
import { wholeBody } from './mail-body.ts';

type Said = { mail: Mail; text: string };

/** The mail of a person among some mails, whole, in the order in which it was sent. */
async function personsWords(shop: Workshop, mails: readonly Mail[]): Promise<Said[]> {
  const written = mails.filter(({ kind, fromId }) => kind === 'message' && fromId === shop.rootId);
  return Promise.all(written.map(async (mail) => ({ mail, text: (await wholeBody(shop, mail)).trim() })));
}

/** Several messages as one turn. */
function joinedWords(said: readonly Said[]): string {
  return said.map(({ text }) => text).join('\n\n');
}

/** The task of a conversation's next turn: as many of the person's waiting words as one turn takes; null when there are none. */
export async function taskOfWords(shop: Workshop, waiting: readonly Mail[]): Promise<string | null> {
  const words = await personsWords(shop, waiting.slice(0, limits.mailPerTurn));
  const taken = together(words.map(({ mail }) => mail)).length;
  return taken === 0 ? null : joinedWords(words.slice(0, taken));
}

/** The mails that a conversation's turn consists of already, so that they are not shown a second time. */
export async function mailsInTurn(shop: Workshop, agent: Agent, task: string, mails: readonly Mail[]): Promise<Mail[]> {
  if (agent.mode !== 'converse') return [];
  const said = await personsWords(shop, mails);
  for (let count = said.length; count > 0; count--) {
    const first = said.slice(0, count);
    if (joinedWords(first) === task) return first.map(({ mail }) => mail);
  }
  return [];
}
