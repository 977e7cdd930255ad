import { version } from '@pawl/protocol/programs';
import { PawlError } from '@pawl/schema/error';
import { Argument, Command, Option } from 'commander';
import { doctor } from './command/doctor.ts';
import { down } from './command/down.ts';
import { events } from './command/events.ts';
import { init } from './command/init.ts';
import { inspect } from './command/inspect.ts';
import { logs } from './command/logs.ts';
import { ps } from './command/ps.ts';
import { status } from './command/status.ts';
import { stop } from './command/stop.ts';
import { up } from './command/up.ts';
import { work } from './command/work.ts';
import type { CommandContext } from './context.ts';
import { createContext } from './context.ts';

/** What a definition works with: its own command, with the options that all have, and how to run its action. */
type Tools = {
  program: Command;
  add(summary: string, example: string): Command;
  act(options: object, run: (context: CommandContext) => Promise<number>): Promise<void>;
  exit(code: number): void;
};

const agentWord = 'alias, id or the start of an id';

/** Every command: its words, its options, an example, and what it does. */
const definitions: Record<string, (tools: Tools) => void> = {
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
      .action((path, options) => act(options, (context) => init(context, path, options))),
  work: ({ add, act }) =>
    add('put an agent to work on a task', 'pawl work "fix the login test" --provider scripted --follow')
      .argument('<task...>', 'what to do; - reads it from stdin')
      .addOption(new Option('-p, --provider <name>', 'which coding agent').default('scripted').env('PAWL_PROVIDER'))
      .option('-m, --model <name>', 'which model, where the provider lets you choose')
      .option('-n, --name <alias>', 'the agent’s alias; adjective-animal when absent')
      .option('-b, --base <rev>', 'start from this commit, branch or tag instead of HEAD')
      .option('-C, --project <path>', 'the repository, when it is not the current directory')
      .option('--scenario <file>', 'what the scripted provider plays')
      .option('-f, --follow', 'stay and show its output')
      .action((words, options) => act(options, (context) => work(context, words, options))),
  ps: ({ add, act }) =>
    add('list the agents', 'pawl ps --json')
      .option('-a, --all', 'with those that are dead')
      .option('--project <name>', 'of one project only')
      .option('--limit <n>', 'how many', wholeNumber)
      .action((options) => act(options, (context) => ps(context, options))),
  logs: ({ add, act }) =>
    add('show what an agent printed', 'pawl logs -f brave-otter')
      .argument('<agent>', agentWord)
      .option('-f, --follow', 'go on until it has ended')
      .option('--raw', 'the bytes as they were printed')
      .option('--tail <n>', 'only the last n chunks', wholeNumber)
      .action((agent, options) => act(options, (context) => logs(context, agent, options))),
  inspect: ({ add, act }) =>
    add('show everything about an agent', 'pawl inspect brave-otter')
      .argument('<agent>', agentWord)
      .action((agent, options) => act(options, (context) => inspect(context, agent))),
  stop: ({ add, act }) =>
    add('end an agent’s processes; its work stays', 'pawl stop brave-otter')
      .argument('<agent...>', agentWord)
      .action((agents, options) => act(options, (context) => stop(context, agents))),
  events: ({ add, act }) =>
    add('show the event log', 'pawl events -f --json')
      .option('-f, --follow', 'go on with what happens next')
      .option('--after <seq>', 'from this event on', wholeNumber)
      .option('--tail <n>', 'the last n events', wholeNumber)
      .option('--agent <agent>', 'of one agent only')
      .action((options) => act(options, (context) => events(context, options))),
  completion: ({ program, exit }) =>
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
        const { completion } = await import('./command/completion.ts');
        exit(completion(buildProgram(exit), [shell, ...words]));
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

/** The command line: the whole of it, or only the command that was asked for, which is quicker to build. */
export function buildProgram(exit: (code: number) => void, only?: string): Command {
  const program = new Command('pawl')
    .description('Runs teams of coding agents on a git repository and lets main move only forward.')
    .version(version, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText(
      'after',
      '\nStart here:\n  pawl init && pawl work "fix the failing test" --provider scripted && pawl ps',
    );
  const names = only !== undefined && Object.hasOwn(definitions, only) ? [only] : Object.keys(definitions);
  for (const name of names) {
    definitions[name]?.({
      program,
      exit,
      act: async (options, run) => exit(await run(createContext(options))),
      add: (summary, example) =>
        program
          .command(name)
          .description(summary)
          .option('--json', 'print JSON: one envelope, or a line each for streams')
          .option('-q, --quiet', 'print nothing but errors')
          .addHelpText('after', `\nExample:\n  ${example}`),
    });
  }
  return program;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new PawlError('usage', `${JSON.stringify(text)} is not a whole number.`);
}
