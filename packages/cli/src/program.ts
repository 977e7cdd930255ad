import { version } from '@pawl/protocol/node/programs';
import { Command } from 'commander';
import { createContext } from './context.ts';
import { accountCommands } from './table/accounts.ts';
import { agentCommands } from './table/agents.ts';
import { changeCommands } from './table/changes.ts';
import { completeCommands } from './table/complete.ts';
import { configCommands } from './table/config.ts';
import { delegateCommands } from './table/delegate.ts';
import { devCommands } from './table/dev.ts';
import { errandCommands } from './table/errands.ts';
import { homeCommands } from './table/home.ts';
import { longForms } from './table/long-forms.ts';
import { mailCommands } from './table/mail.ts';
import { mcpCommands } from './table/mcp.ts';
import { modelCommands } from './table/models.ts';
import { planCommands } from './table/plans.ts';
import { projectSetupCommands } from './table/project-setup.ts';
import { projectCommands } from './table/projects.ts';
import { promptCommands } from './table/prompts.ts';
import { providerCommands } from './table/providers.ts';
import { questionCommands } from './table/questions.ts';
import { rosterCommands } from './table/roster.ts';
import { ruleCommands } from './table/rules.ts';
import { signalCommands } from './table/signals.ts';
import { taskCommands } from './table/tasks.ts';
import { everydayHelp } from './help.ts';
import { helpCommands } from './table/help.ts';
import type { CommandTable } from './table/tools.ts';

/** The commands by help group. */
const groups: [heading: string, commands: CommandTable][] = [
  ['Agents:', { ...agentCommands, ...delegateCommands }],
  ['Control:', signalCommands],
  ['Reporting:', { ...completeCommands, ...longForms }],
  ['Mail:', mailCommands],
  ['Questions and rules:', { ...questionCommands, ...ruleCommands }],
  ['Inputs:', promptCommands],
  ['Plans, tasks and errands:', { ...planCommands, ...taskCommands, ...errandCommands }],
  ['Changes and the merge queue:', changeCommands],
  ['Providers and accounts:', { ...providerCommands, ...modelCommands, ...accountCommands }],
  ['Integration:', mcpCommands],
  ['Shared checkouts:', rosterCommands],
  ['Projects:', { ...projectSetupCommands, ...projectCommands }],
  ['Daemon and settings:', { ...homeCommands, ...configCommands }],
  ['Development:', devCommands],
  ['Help:', helpCommands],
];

/** Builds the command line: all of it, or only the requested command, which is faster. */
export function buildProgram(exit: (code: number) => void, only?: string): Command {
  const program = new Command('pawl')
    .description('Runs teams of coding agents on a git repository and lets main move only forward.')
    .version(version, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .exitOverride()
    .configureHelp({ formatHelp: everydayHelp })
    .helpCommand(false);
  const isOne = only !== undefined && groups.some(([, commands]) => Object.hasOwn(commands, only));
  for (const [heading, commands] of groups) {
    program.commandsGroup(heading);
    for (const [name, define] of Object.entries(commands)) {
      if (isOne && name !== only) continue;
      define({
        program,
        exit,
        whole: () => buildProgram(exit),
        act: async (options, run) => exit(await run(createContext(options))),
        add: (summary, example) => addCommand(program, name, summary, example),
        addTo: addCommand,
      });
    }
  }
  return program;
}

function addCommand(
  group: Command,
  name: string,
  summary: string,
  example: string,
  options: { isDefault?: boolean } = {},
): Command {
  return group
    .command(name, options)
    .description(summary)
    .option('--json', 'print JSON: one envelope, or a line each for streams')
    .option('-q, --quiet', 'print nothing but errors')
    .addHelpText('after', `\nExample:\n  ${example}`);
}
