import { Option } from 'commander';
import type { Command } from 'commander';
import type { CommandTable, Tools } from './tools.ts';

/** Choices for others' work when the primary session ends. Listed here so that the help loads nothing else. */
const choices = ['commit', 'wait', 'leave'] as const;

export const rosterCommands: CommandTable = {
  roster: ({ add, act }) =>
    add('list other agents at work in a checkout (exit 0: none, 1: some, 2: unknown)', 'pawl roster')
      .argument('[project]', 'the checkout (default: current directory)')
      .action((project, options) =>
        act(options, async (context) => (await import('../command/home/roster.ts')).roster(context, project)),
      ),
  session: (tools) => {
    const group = tools.program
      .command('session')
      .description('begin and end sessions in a shared checkout')
      .addHelpText('after', '\nExample:\n  pawl session begin\n  pawl session end --description "login test"');
    addSession(tools, group);
  },
  hooks: (tools) => {
    const group = tools.program
      .command('hooks')
      .description('install hooks so that agents you start yourself notice each other')
      .addHelpText('after', '\nExample:\n  pawl hooks install\n  pawl hooks uninstall');
    addHooks(tools, group);
  },
  run: ({ add, act }) =>
    add('run an agent in this terminal, as a helper of the one already at work', 'pawl run --helper -- claude')
      .argument('[project]', 'the checkout (default: current directory)')
      .argument('[command...]', 'command to run, after -- (default: the default provider’s program)')
      .option('--helper', 'run as a helper; warns and runs normally if no other agent is there')
      .addOption(new Option('-p, --provider <name>', 'provider whose program to run').env('PAWL_PROVIDER'))
      .action((_project, _words, options, command: Command) =>
        act(options, async (context) => {
          const { project, words } = splitWords(command);
          return (await import('../command/agents/run.ts')).runHelper(context, project, words, options);
        }),
      ),
};

function addHooks({ addTo, act }: Tools, group: Command): void {
  const load = () => import('../command/home/hooks.ts');
  const at = (command: Command) => command.option('-C, --project <path>', 'the checkout (default: current directory)');
  const edits = (command: Command) =>
    at(command)
      .option('-y, --yes', 'do not ask for confirmation')
      .option('--dry-run', 'only show what would be written');
  edits(
    addTo(
      group,
      'install',
      'write hooks for Claude Code and a paragraph for AGENTS.md, after showing them',
      'pawl hooks install --dry-run',
    ),
  )
    .option('--no-agents-md', 'leave AGENTS.md alone')
    .action((options) => act(options, async (context) => (await load()).installHooks(context, options)));
  edits(addTo(group, 'uninstall', 'remove the hooks and the paragraph', 'pawl hooks uninstall --yes')).action(
    (options) => act(options, async (context) => (await load()).uninstallHooks(context, options)),
  );
  at(addTo(group, 'status', 'show whether the hooks are installed', 'pawl hooks status', { isDefault: true })).action(
    (options) => act(options, async (context) => (await load()).hooksStatus(context, options)),
  );
}

function addSession({ addTo, act }: Tools, group: Command): void {
  const at = (command: Command) => command.option('-C, --project <path>', 'the checkout (default: current directory)');
  at(addTo(group, 'path', 'print where this session keeps its notes', 'pawl session path')).action((options) =>
    act(options, async (context) => (await import('../command/agents/session.ts')).sessionPath(context, options)),
  );
  at(
    addTo(group, 'begin', 'find out how to begin: fresh, recovering, or as a helper', 'pawl session begin --json'),
  ).action((options) =>
    act(options, async (context) => (await import('../command/agents/session.ts')).sessionBegin(context, options)),
  );
  at(
    addTo(
      group,
      'end',
      'archive this session’s notes and list what is left to do',
      'pawl session end --on-helpers wait',
    ),
  )
    .option('--description <words>', 'a few words for the archive’s name')
    .addOption(
      new Option(
        '--on-helpers <what>',
        'if helpers are still at work: commit their changes, wait, or let them close the session',
      ).choices(choices),
    )
    .action((options) =>
      act(options, async (context) => (await import('../command/agents/session.ts')).sessionEnd(context, options)),
    );
}

/** The project is before `--`, the command after it; commander itself removes `--`. */
function splitWords(command: Command): { project: string | undefined; words: string[] } {
  const { rawArgs = [] } = (command.parent ?? command) as unknown as { rawArgs?: string[] };
  const at = rawArgs.indexOf('--');
  const words = at === -1 ? [] : rawArgs.slice(at + 1);
  const before = command.args.slice(0, command.args.length - words.length);
  return { project: before[0], words: [...before.slice(1), ...words] };
}
