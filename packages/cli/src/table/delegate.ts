import { accessLevels } from '@pawl/schema/access-level';
import { Option } from 'commander';
import { waitTime } from '../agent/wait-time.ts';
import type { CommandTable } from './tools.ts';

export const delegateCommands: CommandTable = {
  delegate: ({ add, act }) =>
    add('start a subagent and print its result', 'pawl delegate finder "where is the login checked?"')
      .argument('<target>', 'the definition; see pawl definitions')
      .argument('[task...]', 'what to do (- reads stdin)')
      .option('--wait', 'wait for the result (default)', true)
      .option('--no-wait', 'return at once with the run’s id')
      .option('--timeout <time>', 'maximum wait, e.g. 30s or 5m', waitTime)
      .option('-p, --provider <name>', 'coding CLI to use; see pawl providers')
      .option('-m, --model <name>', 'model, if the provider offers a choice')
      .option('-n, --name <alias>', 'alias (default: generated)')
      .addOption(
        new Option('--access <level>', 'full, ask or read-only (default: as the definition or config says)').choices(
          accessLevels,
        ),
      )
      .option('-b, --base <rev>', 'commit, branch or tag to start from')
      .option('--scenario <file>', 'scenario of the scripted provider')
      .option('--key <key>', 'idempotency key: the same key returns the same agent')
      .action((target, words, options) =>
        act(options, async (context) =>
          (await import('../command/agents/delegate.ts')).delegate(context, target, words, options),
        ),
      ),
  result: ({ add, act }) =>
    add('print the result of a run', 'pawl result 8mQ2xN4rT6vY8zB1cD3fGh')
      .argument('<run>', 'the id of the run; see pawl inspect')
      .option('--wait', 'wait for the run to end (default)', true)
      .option('--no-wait', 'look once')
      .option('--timeout <time>', 'maximum wait, e.g. 30s or 5m', waitTime)
      .action((run, options) =>
        act(options, async (context) => (await import('../command/agents/delegate.ts')).result(context, run, options)),
      ),
};
