import type { InboxItem } from '@pawl/protocol/view/question';
import type { CommandContext } from '../context.ts';
import { count, duration } from '../format.ts';
import { withDaemon } from '../launch.ts';
import { printable, printableLine } from '../terminal.ts';

/** Shows everything that waits for the person, oldest first, with how to answer it. */
export async function inbox(context: CommandContext): Promise<number> {
  const list = await withDaemon(context.home, (client) => client.inbox());
  const now = Date.now();
  context.answer('inbox', list, () => {
    if (list.items.length === 0) return 'nothing waits for you';
    return list.items.map((item) => describe(item, now, context)).join('\n\n');
  });
  return 0;
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
  const word = kind === 'questions' ? agent.alias : id;
  const how = kind === 'permission' ? '--allow | --deny' : several ? '--answer <id>=<text>' : '"…"';
  return [head, ...lines, colours.dim(`  pawl reply ${word} ${how} | --not-now`)].join('\n');
}

function deadlineInWords(leftMs: number): string {
  return leftMs <= 0 ? 'its time is over' : `${duration(leftMs)} left`;
}

function indented(text: string): string {
  return `  ${text.trim().replaceAll('\n', '\n  ')}`;
}
