import type { CommandTable } from './tools.ts';

export const providerCommands: CommandTable = {
  providers: ({ add, act }) =>
    add('list coding CLIs and their capabilities', 'pawl providers --json')
      .option('-a, --all', 'include those not installed')
      .action((options) =>
        act(options, async (context) => (await import('../command/projects/providers.ts')).providers(context, options)),
      ),
};
