import type { CommandTable } from './tools.ts';
import { agentOrCurrentWord, times } from './tools.ts';

export const promptCommands: CommandTable = {
  prompt: ({ add, act }) =>
    add('show the prompt of an agent’s session', 'pawl prompt brave-otter --session 1')
      .argument('[agent]', agentOrCurrentWord)
      .option('--session <n>', 'a session other than the latest', times)
      .action((agent, options) =>
        act(options, async (context) =>
          (await import('../command/projects/prompt.ts')).prompt(context, agent, options),
        ),
      ),
  inputs: ({ add, act }) =>
    add('list the input files of an agent', 'pawl inputs brave-otter')
      .argument('[agent]', agentOrCurrentWord)
      .action((agent, options) =>
        act(options, async (context) => (await import('../command/projects/prompt.ts')).inputs(context, agent)),
      ),
  id: ({ add, act }) =>
    add('print a new unique id', 'pawl id').action((options) =>
      act(options, async (context) => {
        // Loads the schemas, which other commands do not need.
        const id = (await import('@pawl/schema/id')).newId();
        context.answer('id', { id }, () => id);
        return 0;
      }),
    ),
};
