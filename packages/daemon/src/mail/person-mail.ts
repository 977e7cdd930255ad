import type { Mail } from '@pawl/schema/mail';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { nextBatch } from './hand-over.ts';
import type { Platform } from '../platform/platform.ts';
import { wholeBody } from './mail-body.ts';

type PersonMail = { mail: Mail; text: string };

/** The person's mails among some, with whole bodies, in the order sent. */
async function personMail(platform: Platform, mails: readonly Mail[]): Promise<PersonMail[]> {
  const written = mails.filter(({ kind, fromId }) => kind === 'message' && fromId === platform.rootId);
  return Promise.all(written.map(async (mail) => ({ mail, text: (await wholeBody(platform, mail)).trim() })));
}

/** Joins several messages into one turn. */
function joinTexts(said: readonly PersonMail[]): string {
  return said.map(({ text }) => text).join('\n\n');
}

/** The task of a conversation's next turn: as much of the person's waiting mail as fits; null if there is none. */
export async function taskFromMail(platform: Platform, waiting: readonly Mail[]): Promise<string | null> {
  const words = await personMail(platform, waiting.slice(0, limits.mailPerTurn));
  const taken = nextBatch(words.map(({ mail }) => mail)).length;
  return taken === 0 ? null : joinTexts(words.slice(0, taken));
}

/** The mails that a conversation's turn already contains, so that they are not shown twice. */
export async function mailsInTurn(
  platform: Platform,
  agent: Agent,
  task: string,
  mails: readonly Mail[],
): Promise<Mail[]> {
  if (agent.mode !== 'converse') return [];
  const said = await personMail(platform, mails);
  for (let count = said.length; count > 0; count--) {
    const first = said.slice(0, count);
    if (joinTexts(first) === task) return first.map(({ mail }) => mail);
  }
  return [];
}
