import { clockTime, count, names } from '@pawl/present/amount';
import { mailTone } from '@pawl/present/state-tone';
import { fit, printable, printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import type { MailList, MailView, SendMailBody } from '@pawl/protocol/mail/view';
import { PawlError } from '@pawl/schema/error';
import { resolve } from 'node:path';
import { askOnce } from '../../daemon/ask-once.ts';
import type { CommandContext } from '../../context.ts';
import { actAsAdopted } from '../../agent/adopted-self.ts';
import { answerEach, eachAgent } from '../../agent/each-agent.ts';
import { reachDaemon, withDaemon } from '../../daemon/launch.ts';
import { untilAnswered } from '../../daemon/resend.ts';
import { readText } from '../../terminal/standard-input.ts';
import type { Palette } from '../../terminal/palette.ts';
import { table } from '../../terminal/table.ts';

const columns = [
  { title: '#' },
  { title: 'ID' },
  { title: 'STATUS' },
  { title: 'FROM' },
  { title: 'SENT' },
  { title: 'MAIL', flexible: true },
];

/** How much of an id a listing shows: enough to name the mail. */
const idCharacters = 6;
/** How much of a mail a listing shows. */
const listedColumns = 60;

/** Sends a mail; by the time of the output it is durable. */
export async function send(
  context: CommandContext,
  words: string[],
  options: { all?: boolean; project?: string },
): Promise<number> {
  await actAsAdopted(context.home);
  const body = await bodyOf(words, options);
  const { answer } = await askOnce(context, ['send', body], (key) =>
    untilAnswered(context.home, (client) => client.sendMail(body, key)),
  );
  context.answer('mails', answer, () => describeSent(answer.mails, context.colours));
  return 0;
}

async function bodyOf(words: string[], options: { all?: boolean; project?: string }): Promise<SendMailBody> {
  const [to, text] = options.all ? [undefined, words[0]] : words;
  if (text === undefined || (to === undefined && !options.all) || words.length > (options.all ? 1 : 2)) {
    throw new PawlError('usage', 'A mail needs a recipient, or --all, and a text in quotes.', {
      hint: 'pawl send <agent> "what to say", or pawl send --all "what to say"',
    });
  }
  const body = text === '-' ? await readText() : text;
  if (to !== undefined) return { to, body };
  // An agent's project is known; a person's is the current directory.
  const isAgent = process.env['PAWL_AGENT_TOKEN'] !== undefined;
  if (isAgent && options.project === undefined) return { all: true, body };
  return { all: true, path: resolve(options.project ?? '.'), body };
}

function describeSent(mails: MailView[], colours: Palette): string {
  const [first, ...others] = mails;
  if (first === undefined) return 'there is no recipient';
  if (others.length > 0) return `sent to ${count(mails.length, 'agent')}: ${names(mails.map(({ to }) => to.alias))}`;
  const detail = first.detail === '' ? first.status : first.detail;
  return `sent to ${colours.bold(first.to.alias)} (${first.id.slice(0, idCharacters)}); ${printableLine(detail)}`;
}

type ListOptions = { from?: string; unread?: boolean; agent?: string; limit?: number; before?: string };

/** Lists the caller's mailbox, which fetches waiting mail, or another's without changing it. */
export async function list(context: CommandContext, { agent, ...options }: ListOptions): Promise<number> {
  await actAsAdopted(context.home);
  const query = {
    ...(options.from === undefined ? {} : { from: options.from }),
    ...(options.unread ? { unread: true } : {}),
    ...(options.limit === undefined ? {} : { limit: options.limit }),
    ...(options.before === undefined ? {} : { before: options.before }),
  };
  const answer = await withDaemon(context.home, (client) =>
    agent === undefined ? client.fetchMail(query) : client.listMail({ ...query, agent }),
  );
  context.answer('mail', answer, () => describeList(context, answer));
  return 0;
}

function describeList({ colours, columns: lineColumns }: CommandContext, { mails, unread, next }: MailList): string {
  if (mails.length === 0) return 'no mail';
  const rows = mails.map((mail, index) => [
    span(String(index + 1), 'muted'),
    span(mail.id.slice(0, idCharacters), 'muted'),
    span(mail.dead === null ? mail.status : 'undeliverable', mailTone(mail)),
    mail.from.alias,
    clockTime(mail.createdAt),
    fit(printableLine(mail.body), listedColumns),
  ]);
  const rest = next === null ? '' : `; more: pawl mail --before ${next}`;
  return `${table(columns, rows, colours, lineColumns)}\n${colours.dim(`${unread} unread; all of one: pawl read 1${rest}`)}`;
}

/** Shows a whole mail; marks the caller's own as read. */
export async function read(context: CommandContext, reference: string): Promise<number> {
  await actAsAdopted(context.home);
  const answer = await withDaemon(context.home, (client) => client.readMail(reference));
  context.answer('mail', answer, () => describeMail(answer.mail, context.colours));
  return 0;
}

/** Renders a mail with sender, recipient, status and text. */
export function describeMail(mail: MailView, colours: Palette): string {
  const sent = new Date(mail.createdAt).toISOString();
  const detail = mail.detail === '' ? '' : ` (${printableLine(mail.detail)})`;
  const kind = mail.kind === 'message' ? '' : `${mail.kind}, `;
  return [
    `${colours.bold(mail.from.alias)} to ${colours.bold(mail.to.alias)} at ${sent}`,
    colours.dim(`${mail.id}: ${kind}${mail.status}${detail}`),
    '',
    printable(mail.body).trimEnd(),
  ].join('\n');
}

/** Acknowledges mails. A failure does not stop the rest. */
export async function ack(context: CommandContext, references: string[]): Promise<number> {
  await actAsAdopted(context.home);
  const client = await reachDaemon(context.home);
  const outcomes = await eachAgent(references, async (reference) => (await client.ackMail(reference)).mail);
  return answerEach(context, outcomes, 'mails', { mails: outcomes.done }, () =>
    outcomes.done
      .map(
        (mail) => `${mail.id.slice(0, idCharacters)} from ${context.colours.bold(mail.from.alias)} is ${mail.status}`,
      )
      .join('\n'),
  );
}
