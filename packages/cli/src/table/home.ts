import { version } from '@pawl/protocol/node/programs';
import { Argument } from 'commander';
import { doctor } from '../command/home/doctor.ts';
import { down } from '../command/home/down.ts';
import { events } from '../command/home/events.ts';
import { status } from '../command/home/status.ts';
import { up } from '../command/home/up.ts';
import type { CommandTable } from './tools.ts';
import { wholeNumber } from './tools.ts';

const loadWeb = () => import('../command/web/web.ts');

export const homeCommands: CommandTable = {
  up: ({ add, act }) =>
    add('start the daemon', 'pawl up')
      .option('--foreground', 'stay in this terminal')
      .action((options) => act(options, (context) => up(context, options))),
  down: ({ add, act }) =>
    add('stop the daemon; agents keep running', 'pawl down').action((options) => act(options, down)),
  status: ({ add, act }) =>
    add('show whether the daemon is up', 'pawl status --json').action((options) => act(options, status)),
  doctor: ({ add, act }) =>
    add('check the installation; --fix repairs it', 'pawl doctor --fix')
      .option('--fix', 'repair what can be repaired; no work is deleted')
      .action((options) => act(options, (context) => doctor(context, options))),
  events: ({ add, act }) =>
    add('show the event log', 'pawl events -f --json')
      .option('-f, --follow', 'keep printing new events')
      .option('--after <seq>', 'start after this event', wholeNumber)
      .option('--tail <n>', 'the last n events', wholeNumber)
      .option('--agent <agent>', 'only of this agent')
      .action((options) => act(options, (context) => events(context, options))),
  completion: ({ program, exit, whole }) =>
    program
      .command('completion')
      .description('print a shell completion script')
      .addArgument(
        new Argument('<shell>', 'bash, zsh or fish').choices(['bash', 'zsh', 'fish', 'powershell', 'complete']),
      )
      .argument('[words...]')
      .allowUnknownOption()
      .addHelpText('after', '\nExample:\n  source <(pawl completion bash)')
      .action(async (shell, words) => {
        // The only command that needs this library.
        const { completion } = await import('../command/home/completion.ts');
        exit(completion(whole(), [shell, ...words]));
      }),
  version: ({ add, act }) =>
    add('print the version', 'pawl version').action((options) =>
      act(options, async (context) => {
        context.answer('version', { version, node: process.versions.node }, () => version);
        return 0;
      }),
    ),
  'scripted-agent': ({ program }) =>
    program
      .command('scripted-agent', { hidden: true })
      .description('play a scenario as a stand-in for a coding agent')
      .allowUnknownOption()
      .helpOption(false)
      .argument('[words...]'),
  web: ({ program, addTo, act }) => {
    const group = program
      .command('web')
      .description('open the page in your browser; list and revoke the sessions of browsers')
      .addHelpText('after', '\nExample:\n  pawl web\n  pawl web --print\n  pawl web sessions --all');
    addTo(group, 'open', 'open the page in your browser', 'pawl web open --no-open', { isDefault: true })
      .option('--no-open', 'start no browser; print the address, which is valid once, for 30 seconds')
      .option('--print', 'the same, with nothing but the address')
      .action((options) => act(options, async (context) => (await loadWeb()).openPage(context, options)));
    addTo(group, 'sessions', 'list the browsers that may act as you, or revoke them', 'pawl web sessions --revoke 4fGh')
      .option('--revoke <id>', 'revoke this session; the start of its id is enough')
      .option('--all', 'revoke all sessions')
      .action((options) => act(options, async (context) => (await loadWeb()).webSessions(context, options)));
  },
};
