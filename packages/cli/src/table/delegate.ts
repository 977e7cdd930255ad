import { waitTime } from '../wait-time.ts';
import type { CommandTable } from './tools.ts';

/** The commands by which an agent has others work for it, and gets what came of it. */
export const delegateCommands: CommandTable = {
  delegate: ({ add, act }) =>
    add(
      'start an agent of a definition for the calling agent, and print its result',
      'pawl delegate finder "where is the login checked?"',
    )
      .argument('<target>', 'the definition; see pawl definitions')
      .argument('[task...]', 'what to do; - reads it from stdin')
      .option('--wait', 'wait for the result: the default', true)
      .option('--no-wait', 'return at once, with the run to ask for')
      .option('--timeout <time>', 'wait no longer than this, such as 30s or 5m', waitTime)
      .option('-p, --provider <name>', 'which coding agent')
      .option('-m, --model <name>', 'which model, where the provider lets you choose')
      .option('-n, --name <alias>', 'the agent’s alias; adjective-animal when absent')
      .option('-b, --base <rev>', 'start from this commit, branch or tag')
      .option('--scenario <file>', 'what the scripted provider plays')
      .option('--key <key>', 'an idempotency key: the same key gives the same agent')
      .action((target, words, options) =>
        act(options, async (context) =>
          (await import('../command/delegate.ts')).delegate(context, target, words, options),
        ),
      ),
  result: ({ add, act }) =>
    add('print what came of a run, after it has ended', 'pawl result 8mQ2xN4rT6vY8zB1cD3fGh')
      .argument('<run>', 'the id of the run; see pawl inspect')
      .option('--wait', 'wait for its end: the default', true)
      .option('--no-wait', 'look once')
      .option('--timeout <time>', 'wait no longer than this, such as 30s or 5m', waitTime)
      .action((run, options) =>
        act(options, async (context) => (await import('../command/delegate.ts')).result(context, run, options)),
      ),
};
