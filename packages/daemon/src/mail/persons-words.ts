import type { Mail } from '@pawl/schema/mail';
import type { Workshop } from '../workshop.ts';
import { wholeBody } from './mail-body.ts';

type Said = { mail: Mail; text: string };

/** What a person wrote among some mails, whole, in the order in which it was sent. */
export async function personsWords(shop: Workshop, mails: readonly Mail[]): Promise<Said[]> {
  const written = mails.filter(({ kind, fromId }) => kind === 'message' && fromId === shop.rootId);
  return Promise.all(written.map(async (mail) => ({ mail, text: (await wholeBody(shop, mail)).trim() })));
}

/** Several messages as one turn. */
export function joinedWords(said: readonly Said[]): string {
  return said.map(({ text }) => text).join('\n\n');
}

/** The mails that a conversation's turn consists of already, so that they are not shown a second time. */
export async function mailsInTurn(shop: Workshop, task: string, mails: readonly Mail[]): Promise<ReadonlySet<string>> {
  const said = await personsWords(shop, mails);
  for (let count = said.length; count > 0; count--) {
    const first = said.slice(0, count);
    if (joinedWords(first) === task) return new Set(first.map(({ mail }) => mail.id));
  }
  return new Set();
}
