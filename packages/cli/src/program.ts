import { version } from '@pawl/protocol/programs';
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
import { projectCommands } from './table/projects.ts';
import { promptCommands } from './table/prompts.ts';
import { providerCommands } from './table/providers.ts';
import { questionCommands } from './table/questions.ts';
import { rosterCommands } from './table/roster.ts';
import { signalCommands } from './table/signals.ts';
import { taskCommands } from './table/tasks.ts';
import type { CommandTable } from './table/tools.ts';

/** The commands in the groups in which the help shows them. */
const groups: [heading: string, commands: CommandTable][] = [
  ['Agents:', { ...agentCommands, ...delegateCommands }],
  ['What agents are told:', signalCommands],
  ['What agents say:', { ...completeCommands, ...longForms }],
  ['Mail:', mailCommands],
  ['Questions:', questionCommands],
  ['What agents were given:', promptCommands],
  ['Plans and errands:', { ...taskCommands, ...errandCommands }],
  ['From a branch to main:', changeCommands],
  ['Providers and accounts:', { ...providerCommands, ...accountCommands }],
  ['For agents’ programs:', mcpCommands],
  ['Agents that share a checkout:', rosterCommands],
  ['Projects:', projectCommands],
  ['The home:', { ...homeCommands, ...configCommands }],
  ['To try things out:', devCommands],
];

/** The command line: the whole of it, or only the command that was asked for, which is quicker to build. */
export function buildProgram(exit: (code: number) => void, only?: string): Command {
  const program = new Command('pawl')
    .description('Runs teams of coding agents on a git repository and lets main move only forward.')
    .version(version, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText('after', '\nStart here:\n  pawl init && pawl work "fix the failing test" && pawl ps');
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
