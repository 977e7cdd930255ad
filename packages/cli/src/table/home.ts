import { version } from '@pawl/protocol/programs';
import { Argument, Option } from 'commander';
import { doctor } from '../command/doctor.ts';
import { down } from '../command/down.ts';
import { events } from '../command/events.ts';
import { init } from '../command/init.ts';
import { status } from '../command/status.ts';
import { up } from '../command/up.ts';
import type { CommandTable } from './tools.ts';
import { wholeNumber } from './tools.ts';

/** The commands about the daemon, the projects and the home. */
export const homeCommands: CommandTable = {
  up: ({ add, act }) =>
    add('start the daemon', 'pawl up')
      .option('--foreground', 'stay in this terminal')
      .action((options) => act(options, (context) => up(context, options))),
  down: ({ add, act }) =>
    add('stop the daemon; agents go on running', 'pawl down').action((options) => act(options, down)),
  status: ({ add, act }) =>
    add('say whether the daemon is up', 'pawl status --json').action((options) => act(options, status)),
  doctor: ({ add, act }) =>
    add('look for what is wrong', 'pawl doctor --fix')
      .option('--fix', 'put right what can be; nothing with work in it is deleted')
      .action((options) => act(options, (context) => doctor(context, options))),
  init: ({ add, act }) =>
    add('make a repository a project', 'pawl init ~/code/shop')
      .argument('[path]', 'the repository', '.')
      .option('--name <name>', 'what to call the project')
      .option('-p, --provider <name>', 'the coding agent of this project’s new agents; see pawl providers')
      .option('--crew', 'start its supervisor, merge-queue and workspace; see pawl crew')
      .option('--no-checks', 'do not look for its checks, and write no .pawl/config.yaml')
      .option('--auto-merge', 'merge changes as soon as their checks pass; by default you merge each one')
      .option('--push', 'let main be pushed to its remote when changes are merged by themselves')
      .option('--commit', 'commit .pawl/config.yaml on the current branch, and nothing else')
      .action((path, options) => act(options, (context) => init(context, path, options))),
  definitions: ({ add, act }) =>
    add('list what agents there can be, and which files are broken', 'pawl definitions')
      .option('--project <path>', 'the repository, when it is not the current directory')
      .action((options) =>
        act(options, async (context) => (await import('../command/definitions.ts')).definitions(context, options)),
      ),
  trust: ({ add, act }) =>
    add('trust the definitions and settings that a repository brings, as they are now', 'pawl trust ~/code/shop')
      .argument('[path]', 'the repository, or the worktree of an agent', '.')
      .option('--list', 'only show the files, and what they would do')
      .option('--yes', 'do not ask')
      .option('--revoke', 'trust none of them any more')
      .action((path, options) =>
        act(options, async (context) => (await import('../command/trust.ts')).trust(context, path, options)),
      ),
  worktree: ({ program, addTo, act }) => {
    const group = program
      .command('worktree')
      .description('list the worktrees of agents, restore one from the trash, or prune the trash')
      .addHelpText(
        'after',
        '\nExample:\n  pawl worktree ls\n  pawl worktree restore ENTRY\n  pawl worktree prune --older-than 14d',
      );
    addTo(group, 'ls', 'list the worktrees: in use, retained, in the trash', 'pawl worktree ls --json').action(
      (options) => act(options, async (context) => (await import('../command/worktree.ts')).listWorktrees(context)),
    );
    addTo(group, 'restore', 'take a worktree back from the trash', 'pawl worktree restore brave-otter')
      .argument('<entry>', 'its name in the trash')
      .action((entry, options) =>
        act(options, async (context) => (await import('../command/worktree.ts')).restoreWorktree(context, entry)),
      );
    addTo(group, 'prune', 'delete for good what is in the trash', 'pawl worktree prune --older-than 30d --dry-run')
      .addOption(
        new Option('--older-than <duration>', 'what has been there for so long: 30m, 12h, 14d, 0').default('14d'),
      )
      .option('--force', 'also what has uncommitted work in it; that is archived first')
      .option('--yes', 'do not ask')
      .option('--dry-run', 'only say what would be deleted')
      .action((options) =>
        act(options, async (context) => (await import('../command/prune.ts')).prune(context, options)),
      );
  },
  events: ({ add, act }) =>
    add('show the event log', 'pawl events -f --json')
      .option('-f, --follow', 'go on with what happens next')
      .option('--after <seq>', 'from this event on', wholeNumber)
      .option('--tail <n>', 'the last n events', wholeNumber)
      .option('--agent <agent>', 'of one agent only')
      .action((options) => act(options, (context) => events(context, options))),
  completion: ({ program, exit, whole }) =>
    program
      .command('completion')
      .description('print a completion script for your shell')
      .addArgument(
        new Argument('<shell>', 'bash, zsh or fish').choices(['bash', 'zsh', 'fish', 'powershell', 'complete']),
      )
      .argument('[words...]')
      .allowUnknownOption()
      .addHelpText('after', '\nExample:\n  source <(pawl completion bash)')
      .action(async (shell, words) => {
        // The one command that brings a library along, which the others do without.
        const { completion } = await import('../command/completion.ts');
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
};
