import type { Command } from 'commander';
import type { CommandTable, Tools } from './tools.ts';
import { agentWord, times, waitSeconds } from './tools.ts';

const load = () => import('../command/mail/mail.ts');
const mailWord = 'its id, the start of it, or its number in the last `pawl mail`';

export const mailCommands: CommandTable = {
  send: ({ add, act }) =>
    withText(add('send mail to an agent, or to all', 'pawl send brave-otter "the API is ready"'), act),
  mail: ({ add, act }) =>
    withFilter(
      add('list your mail, unread first', 'pawl mail --from brave-otter').aliases(['check-mail', 'filter-mail']),
      act,
    ),
  read: ({ add, act }) =>
    add('print a whole mail', 'pawl read 1')
      .alias('read-mail')
      .argument('<mail>', mailWord)
      .action((mail, options) => act(options, async (context) => (await load()).read(context, mail))),
  ack: ({ add, act }) => withMails(add('acknowledge mail', 'pawl ack 4fGh'), act),
  wait: ({ add, act }) =>
    add('wait for the next mail, or until each named agent has written or is idle', 'pawl wait 60 brave-otter calm-fox')
      .argument('<seconds>', 'maximum wait in seconds; 0 checks once', waitSeconds)
      .argument('[agent...]', `agents to wait for: ${agentWord} (default: any)`)
      .action((seconds, agents, options) =>
        act(options, async (context) => (await import('../command/mail/wait.ts')).wait(context, seconds, agents)),
      ),
};

/** The same under their long names: `pawl agent send-message`, `list-messages`, `ack-message`. */
export function addLongMail({ addTo, act }: Pick<Tools, 'addTo' | 'act'>, group: Command): void {
  withText(
    addTo(group, 'send-message', 'the same as pawl send', 'pawl agent send-message brave-otter "the API is ready"'),
    act,
  );
  withFilter(addTo(group, 'list-messages', 'the same as pawl mail', 'pawl agent list-messages --unread'), act);
  withMails(addTo(group, 'ack-message', 'the same as pawl ack', 'pawl agent ack-message 4fGh'), act);
}

function withText(command: Command, act: Tools['act']): void {
  command
    .argument('[words...]', `recipient (${agentWord}, or parent), then the text in quotes (- reads stdin)`)
    .option('--all', 'to every agent of the project but the sender, one mail each')
    .option('-C, --project <path>', 'with --all: the repository (default: current directory)')
    .action((words, options) => act(options, async (context) => (await load()).send(context, words, options)));
}

function withFilter(command: Command, act: Tools['act']): void {
  command
    .option('--from <agent>', `only from one sender: ${agentWord}`)
    .option('--unread', 'only unread mail')
    .option('--agent <agent>', 'look into another agent’s mailbox without changing it (person only)')
    .option('--limit <number>', 'maximum number', times)
    .option('--before <cursor>', 'continue after this cursor from the previous page')
    .action((options) => act(options, async (context) => (await load()).list(context, options)));
}

function withMails(command: Command, act: Tools['act']): void {
  command
    .argument('<mail...>', mailWord)
    .action((mails, options) => act(options, async (context) => (await load()).ack(context, mails)));
}
