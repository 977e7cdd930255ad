import type { Client } from '@pawl/protocol/client';
import type { InboxItem } from '@pawl/protocol/view/question';
import { PawlError } from '@pawl/schema/error';
import type { CommandContext } from '../context.ts';
import { count, duration } from '../format.ts';
import { withDaemon } from '../launch.ts';
import { printable, printableLine } from '../terminal.ts';

/** Shows what waits for the person, oldest first, with how to answer it: everything in short, or what is named, whole. */
export async function inbox(context: CommandContext, reference?: string): Promise<number> {
  const list = await withDaemon(context.home, async (client) => {
    const { items } = await client.inbox();
    return { items: reference === undefined ? items : await wholeOf(client, items, reference) };
  });
  const now = Date.now();
  context.answer('inbox', list, () => {
    if (list.items.length === 0) return 'nothing waits for you';
    return list.items.map((item) => describe(item, now, context)).join('\n\n');
  });
  return 0;
}

/** What waits under a name, which is the start of its id, or the agent that asked; with nothing left out. */
async function wholeOf(client: Client, items: readonly InboxItem[], reference: string): Promise<InboxItem[]> {
  const meant = items.filter(
    ({ id, agent }) => [id, agent.id].some((each) => each.startsWith(reference)) || agent.alias === reference,
  );
  if (meant.length === 0) {
    throw new PawlError('not_found', `Nothing waits for you under ${JSON.stringify(reference.slice(0, 80))}.`, {
      hint: 'See `pawl inbox` for all that does.',
    });
  }
  return Promise.all(
    meant.map(async (item) => {
      if (item.questions.every(({ leftOutBytes }) => leftOutBytes === 0)) return item;
      const { question } = (await client.showQuestion(item.id)).question;
      return { ...item, questions: [{ id: item.id, question, leftOutBytes: 0 }] };
    }),
  );
}

function describe(item: InboxItem, now: number, { colours }: CommandContext): string {
  const { agent, project, kind, id, askedAt, deadlineAt, questions } = item;
  const what = kind === 'questions' ? count(questions.length, 'question') : kind;
  const age = `${duration(Math.max(0, now - askedAt))} ago`;
  const deadline = deadlineAt === null ? '' : `, ${deadlineInWords(deadlineAt - now)}`;
  const place = project === null ? '' : ` in ${project.alias}`;
  const head = `${colours.bold(agent.alias)}${place}: ${what}, ${age}${deadline}`;
  const several = questions.length > 1;
  const lines = questions.map(({ id: name, question }) =>
    indented(several && name !== '' ? `[${printableLine(name)}] ${printable(question)}` : printable(question)),
  );
  const leftOutBytes = questions.reduce((sum, each) => sum + each.leftOutBytes, 0);
  // What an agent wrote is indented, so that it cannot say this in our stead.
  const cut =
    leftOutBytes === 0 ? [] : [colours.bold(`! ${leftOutBytes} bytes more are not shown here: pawl inbox ${id}`)];
  const word = kind === 'questions' ? agent.alias : id;
  const how = kind === 'permission' ? '--allow | --deny' : several ? '--answer <id>=<text>' : '"…"';
  return [head, ...lines, ...cut, colours.dim(`  pawl reply ${word} ${how} | --not-now`)].join('\n');
}

function deadlineInWords(leftMs: number): string {
  return leftMs <= 0 ? 'its time is over' : `${duration(leftMs)} left`;
}

function indented(text: string): string {
  return `  ${text.trim().replaceAll('\n', '\n  ')}`;
}
