import { version } from '@pawl/protocol/programs';
import { PawlError } from '@pawl/schema/error';
import { Argument, Command, Option } from 'commander';
import type { CommandContext } from './context.ts';
import { createContext } from './context.ts';

/** Runs a command's action with the context its options ask for, and keeps its exit code. */
type Run = (context: CommandContext) => Promise<number>;

/** The whole command line. Each command's code is loaded when it runs, so that a short one stays short. */
export function buildProgram(exit: (code: number) => void): Command {
  const program = new Command('pawl')
    .description('Runs teams of coding agents on a git repository and lets main move only forward.')
    .version(version, '-V, --version', 'print the version')
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText(
      'after',
      '\nStart here:\n  pawl init && pawl work "fix the failing test" --provider scripted && pawl ps',
    );

  const add = (name: string, summary: string, example: string): Command =>
    program
      .command(name)
      .description(summary)
      .option('--json', 'print JSON: one envelope, or a line each for streams')
      .option('-q, --quiet', 'print nothing but errors')
      .addHelpText('after', `\nExample:\n  ${example}`);
  const act = async (options: object, run: Run) => exit(await run(createContext(options)));

  add('up', 'start the daemon', 'pawl up')
    .option('--foreground', 'stay in this terminal')
    .action((options) => act(options, async (context) => (await import('./command/up.ts')).up(context, options)));
  add('down', 'stop the daemon; agents go on running', 'pawl down').action((options) =>
    act(options, async (context) => (await import('./command/down.ts')).down(context)),
  );
  add('status', 'say whether the daemon is up', 'pawl status --json').action((options) =>
    act(options, async (context) => (await import('./command/status.ts')).status(context)),
  );
  add('doctor', 'look for what is wrong', 'pawl doctor --fix')
    .option('--fix', 'put right what can be; nothing with work in it is deleted')
    .action((options) =>
      act(options, async (context) => (await import('./command/doctor.ts')).doctor(context, options)),
    );
  add('init', 'make a repository a project', 'pawl init ~/code/shop')
    .argument('[path]', 'the repository', '.')
    .option('--name <name>', 'what to call the project')
    .action((path, options) =>
      act(options, async (context) => (await import('./command/init.ts')).init(context, path, options)),
    );
  add('work', 'put an agent to work on a task', 'pawl work "fix the login test" --provider scripted --follow')
    .argument('<task...>', 'what to do; - reads it from stdin')
    .addOption(new Option('-p, --provider <name>', 'which coding agent').default('scripted').env('PAWL_PROVIDER'))
    .option('-m, --model <name>', 'which model, where the provider lets you choose')
    .option('-n, --name <alias>', 'the agent’s alias; adjective-animal when absent')
    .option('-b, --base <rev>', 'start from this commit, branch or tag instead of HEAD')
    .option('-C, --project <path>', 'the repository, when it is not the current directory')
    .option('--scenario <file>', 'what the scripted provider plays')
    .option('-f, --follow', 'stay and show its output')
    .action((words, options) =>
      act(options, async (context) => (await import('./command/work.ts')).work(context, words, options)),
    );
  add('ps', 'list the agents', 'pawl ps --json')
    .option('-a, --all', 'with those that are dead')
    .option('--project <name>', 'of one project only')
    .option('--limit <n>', 'how many', wholeNumber)
    .action((options) =>
      act(options, async (context) =>
        (await import('./command/ps.ts')).ps(context, pick(options, 'all', 'project', 'limit')),
      ),
    );
  add('logs', 'show what an agent printed', 'pawl logs -f brave-otter')
    .argument('<agent>', 'alias, id or the start of an id')
    .option('-f, --follow', 'go on until it has ended')
    .option('--raw', 'the bytes as they were printed')
    .option('--tail <n>', 'only the last n chunks', wholeNumber)
    .action((agent, options) =>
      act(options, async (context) => (await import('./command/logs.ts')).logs(context, agent, options)),
    );
  add('inspect', 'show everything about an agent', 'pawl inspect brave-otter')
    .argument('<agent>', 'alias, id or the start of an id')
    .action((agent, options) =>
      act(options, async (context) => (await import('./command/inspect.ts')).inspect(context, agent)),
    );
  add('stop', 'end an agent’s processes; its work stays', 'pawl stop brave-otter')
    .argument('<agent...>', 'alias, id or the start of an id')
    .action((agents, options) =>
      act(options, async (context) => (await import('./command/stop.ts')).stop(context, agents)),
    );
  add('events', 'show the event log', 'pawl events -f --json')
    .option('-f, --follow', 'go on with what happens next')
    .option('--after <seq>', 'from this event on', wholeNumber)
    .option('--tail <n>', 'the last n events', wholeNumber)
    .option('--agent <agent>', 'of one agent only')
    .action((options) =>
      act(options, async (context) => (await import('./command/events.ts')).events(context, options)),
    );
  program
    .command('completion')
    .description('print a completion script for your shell')
    .addArgument(
      new Argument('<shell>', 'bash, zsh or fish').choices(['bash', 'zsh', 'fish', 'powershell', 'complete']),
    )
    .argument('[words...]')
    .allowUnknownOption()
    .addHelpText('after', '\nExample:\n  source <(pawl completion bash)')
    .action(async (shell, words) =>
      exit((await import('./command/completion.ts')).completion(program, [shell, ...words])),
    );
  add('version', 'print the version', 'pawl version').action((options) =>
    act(options, async (context) => {
      context.answer('version', { version, node: process.versions.node }, () => version);
      return 0;
    }),
  );
  program
    .command('scripted-agent', { hidden: true })
    .description('play a scenario as a stand-in for a coding agent')
    .allowUnknownOption()
    .helpOption(false)
    .argument('[words...]');
  return program;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new PawlError('usage', `${JSON.stringify(text)} is not a whole number.`);
}

function pick<T extends object, K extends keyof T>(from: T, ...names: K[]): Pick<T, K> {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]])) as Pick<T, K>;
}
