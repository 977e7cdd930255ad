import { ago } from '@pawl/present/amount';
import { count, duration } from '@pawl/present/amount';
import { printable, printableLine } from '@pawl/present/text';
import type { Client } from '@pawl/protocol/client';
import type { Inbox, InboxEmergency, InboxEntry, InboxItem } from '@pawl/protocol/questions/view';
import { approvalText } from '@pawl/schema/approval/approval-text';
import { PawlError } from '@pawl/schema/error';
import { shortCommit, shortId } from '../../view/change-text.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { repairOf } from '../../view/queue-text.ts';

/** Kinds with more to show than an inbox entry holds. */
const shownWhole: readonly InboxEntry['kind'][] = ['emergency', 'questions', 'question', 'permission'];

/** Shows what waits for the person, with how to answer: everything in short, or the named item in full. */
export async function inbox(context: CommandContext, reference?: string): Promise<number> {
  const list = await withDaemon(context.home, async (client) => {
    const all = await client.inbox();
    return reference === undefined ? all : namedOf(client, all, reference);
  });
  const now = Date.now();
  context.answer('inbox', list, () => {
    const others = list.entries.filter(({ kind }) => !shownWhole.includes(kind));
    const waiting = [
      ...list.emergencies.map((emergency) => describeEmergency(emergency, now, context)),
      ...list.items.map((item) => describe(item, now, context)),
      ...others.map((entry) => describeEntry(entry, now, context)),
    ];
    return waiting.length === 0 ? 'nothing is waiting for you' : waiting.join('\n\n');
  });
  return 0;
}

/** The items under a name: an id prefix, the agent that asked or made it, a change's branch, a red project. */
async function namedOf(client: Client, all: Inbox, reference: string): Promise<Inbox> {
  const found: Inbox = {
    items: all.items.filter(
      ({ id, agent }) => [id, agent.id].some((each) => each.startsWith(reference)) || agent.alias === reference,
    ),
    changes: all.changes.filter(
      ({ id, branch, author }) => id.startsWith(reference) || [branch, author?.alias].includes(reference),
    ),
    emergencies: all.emergencies.filter(({ project }) => project.alias === reference),
    entries: all.entries.filter((entry) => isNamed(entry, all, reference)),
  };
  if (found.items.length + found.changes.length + found.emergencies.length + found.entries.length > 0) {
    return { ...found, items: await wholeOf(client, found.items) };
  }
  throw new PawlError('not_found', `Nothing is waiting for you under ${JSON.stringify(reference.slice(0, 80))}.`, {
    hint: 'See `pawl inbox` for everything that is.',
  });
}

function isNamed({ id, agent, project, changes }: InboxEntry, all: Inbox, reference: string): boolean {
  const branches = all.changes.filter((change) => changes.includes(change.id)).map(({ branch }) => branch);
  const ids = [id, ...changes, ...(agent === null ? [] : [agent.id])];
  return (
    ids.some((each) => each.startsWith(reference)) || [agent?.alias, project?.alias, ...branches].includes(reference)
  );
}

/** Questions in full. */
function wholeOf(client: Client, items: readonly InboxItem[]): Promise<InboxItem[]> {
  return Promise.all(
    items.map(async (item) => {
      if (item.questions.every(({ leftOutBytes }) => leftOutBytes === 0)) return item;
      const question =
        item.kind === 'permission'
          ? approvalText((await client.showApproval(item.id)).approval)
          : (await client.showQuestion(item.id)).question.question;
      return { ...item, questions: [{ id: item.id, question, leftOutBytes: 0 }] };
    }),
  );
}

function describeEmergency(emergency: InboxEmergency, now: number, { colours }: CommandContext): string {
  const { project, branch, commit, since, detail } = emergency;
  const age = duration(Math.max(0, now - since));
  const head = `EMERGENCY in ${project.alias}: ${printableLine(branch)} is red at ${shortCommit(commit)} for ${age}`;
  const why = detail === '' ? [] : [`  ${printableLine(detail)}`];
  return [colours.red(head), ...why, `  ${repairOf(emergency)}`, colours.dim('  pawl queue log')].join('\n');
}

function describeEntry(entry: InboxEntry, now: number, { colours }: CommandContext): string {
  const { kind, agent, project, changes, since, text, detail, next } = entry;
  const who = [agent?.alias ?? null, project === null ? null : `in ${project.alias}`].filter((part) => part !== null);
  const [only] = changes.length === 1 ? changes : [];
  const what = only === undefined ? kind : `${kind}, change ${shortId(only)}`;
  return [
    `${colours.bold(who.join(' '))}: ${what}, ${ago(now - since)}`,
    `  ${printableLine(text)}`,
    ...(detail === '' ? [] : [`  ${printableLine(detail)}`]),
    ...next.map((step) => colours.dim(`  ${printableLine(step)}`)),
  ].join('\n');
}

function describe(item: InboxItem, now: number, { colours }: CommandContext): string {
  const { agent, project, kind, id, askedAt, deadlineAt, questions } = item;
  const what = kind === 'questions' ? count(questions.length, 'question') : kind;
  const age = ago(now - askedAt);
  const deadline = deadlineAt === null ? '' : `, ${deadlineInWords(deadlineAt - now)}`;
  const place = project === null ? '' : ` in ${project.alias}`;
  const head = `${colours.bold(agent.alias)}${place}: ${what}, ${age}${deadline}`;
  const several = questions.length > 1;
  const lines = questions.map(({ id: name, question }) =>
    indented(several && name !== '' ? `[${printableLine(name)}] ${printable(question)}` : printable(question)),
  );
  const leftOutBytes = questions.reduce((sum, each) => sum + each.leftOutBytes, 0);
  // Agents' text is indented, so that it cannot imitate ours.
  const cut =
    leftOutBytes === 0 ? [] : [colours.bold(`! ${leftOutBytes} bytes more are not shown here: pawl inbox ${id}`)];
  const word = kind === 'questions' ? agent.alias : id;
  const how = several ? '--answer <id>=<text>' : '"…"';
  const next = kind === 'permission' ? permissionAnswers(item) : [`  pawl reply ${word} ${how} | --not-now`];
  return [head, ...lines, ...cut, ...next.map((line) => colours.dim(line))].join('\n');
}

/** The answers to a request for permission, one a line, each with its consequence. */
function permissionAnswers({ id, choices }: InboxItem): string[] {
  const width = Math.max(...choices.map(({ option }) => option.length));
  return choices.map(({ option, does }, index) => {
    const command = index === 0 ? `pawl reply ${id}` : '';
    return `  ${command.padEnd(`pawl reply ${id}`.length)} ${option.padEnd(width)}  ${printableLine(does)}`;
  });
}

function deadlineInWords(leftMs: number): string {
  return leftMs <= 0 ? 'overdue' : `${duration(leftMs)} left`;
}

function indented(text: string): string {
  return `  ${text.trim().replaceAll('\n', '\n  ')}`;
}
