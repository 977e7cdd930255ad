import type { CommandTable } from './tools.ts';

/** The commands about coding CLIs. */
export const providerCommands: CommandTable = {
  providers: ({ add, act }) =>
    add('list the coding agents that can be used, and what each can do', 'pawl providers --json')
      .option('-a, --all', 'with those that are not installed')
      .action((options) =>
        act(options, async (context) => (await import('../command/providers.ts')).providers(context, options)),
      ),
};
