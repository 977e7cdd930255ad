import { Option } from 'commander';
import type { Command } from 'commander';
import type { CommandTable, Tools } from './tools.ts';

/** What may become of others' work when the first session ends. They are named here so that the help needs nothing else. */
const choices = ['commit', 'wait', 'leave'] as const;

/** The commands about agents that share a checkout. */
export const rosterCommands: CommandTable = {
  roster: ({ add, act }) =>
    add('list the other agents at work in a checkout; exits with 0 alone, 1 not alone, 2 cannot tell', 'pawl roster')
      .argument('[project]', 'the checkout, when it is not the current directory')
      .action((project, options) =>
        act(options, async (context) => (await import('../command/roster.ts')).roster(context, project)),
      ),
  session: (tools) => {
    const group = tools.program
      .command('session')
      .description('begin and end sessions of agents that share a checkout')
      .addHelpText('after', '\nExample:\n  pawl session begin\n  pawl session end --description "login test"');
    addSession(tools, group);
  },
  hooks: (tools) => {
    const group = tools.program
      .command('hooks')
      .description('let agents that you start yourself notice each other in a checkout')
      .addHelpText('after', '\nExample:\n  pawl hooks install\n  pawl hooks uninstall');
    addHooks(tools, group);
  },
  run: ({ add, act }) =>
    add('run an agent in this terminal as a helper of the one at work in a checkout', 'pawl run --helper -- claude')
      .argument('[project]', 'the checkout, when it is not the current directory')
      .argument('[command...]', 'what to run, after --; the usual provider’s program when absent')
      .option('--helper', 'as a helper; with nobody to help it warns, and runs as usual')
      .addOption(new Option('-p, --provider <name>', 'whose program to run').env('PAWL_PROVIDER'))
      .action((_project, _words, options, command: Command) =>
        act(options, async (context) => {
          const { project, words } = splitWords(command);
          return (await import('../command/run.ts')).runHelper(context, project, words, options);
        }),
      ),
};

function addHooks({ addTo, act }: Tools, group: Command): void {
  const load = () => import('../command/hooks.ts');
  const at = (command: Command) =>
    command.option('-C, --project <path>', 'the checkout, when it is not the current directory');
  const edits = (command: Command) =>
    at(command).option('-y, --yes', 'do not ask').option('--dry-run', 'only show what would be written');
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
  edits(addTo(group, 'uninstall', 'take both out again', 'pawl hooks uninstall --yes')).action((options) =>
    act(options, async (context) => (await load()).uninstallHooks(context, options)),
  );
  at(addTo(group, 'status', 'say whether they are installed', 'pawl hooks status', { isDefault: true })).action(
    (options) => act(options, async (context) => (await load()).hooksStatus(context, options)),
  );
}

function addSession({ addTo, act }: Tools, group: Command): void {
  const at = (command: Command) =>
    command.option('-C, --project <path>', 'the checkout, when it is not the current directory');
  at(addTo(group, 'path', 'print where this session keeps its notes', 'pawl session path')).action((options) =>
    act(options, async (context) => (await import('../command/session.ts')).sessionPath(context, options)),
  );
  at(
    addTo(group, 'begin', 'find out how to begin: fresh, recover, or as a helper', 'pawl session begin --json'),
  ).action((options) =>
    act(options, async (context) => (await import('../command/session.ts')).sessionBegin(context, options)),
  );
  at(
    addTo(
      group,
      'end',
      'put this session’s notes away, and say what is left to do',
      'pawl session end --on-helpers wait',
    ),
  )
    .option('--description <words>', 'what it was about, for the archive’s name')
    .addOption(
      new Option(
        '--on-helpers <what>',
        'when others are still at work: commit what they have begun, wait, or leave closing to them',
      ).choices(choices),
    )
    .action((options) =>
      act(options, async (context) => (await import('../command/session.ts')).sessionEnd(context, options)),
    );
}

/** What stands before `--` is the project, what stands after it the command; commander itself takes `--` away. */
function splitWords(command: Command): { project: string | undefined; words: string[] } {
  const { rawArgs = [] } = (command.parent ?? command) as unknown as { rawArgs?: string[] };
  const at = rawArgs.indexOf('--');
  const words = at === -1 ? [] : rawArgs.slice(at + 1);
  const before = command.args.slice(0, command.args.length - words.length);
  return { project: before[0], words: [...before.slice(1), ...words] };
}
