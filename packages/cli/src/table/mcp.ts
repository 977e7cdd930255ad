import type { CommandTable } from './tools.ts';

/** The commands for programs that ask who they are, or want the verbs as tools. */
export const mcpCommands: CommandTable = {
  whoami: ({ add, act }) =>
    add('say who you are to Pawl: an agent, or a person', 'pawl whoami --json').action((options) =>
      act(options, async (context) => (await import('../command/whoami.ts')).whoami(context)),
    ),
  mcp: ({ program, exit }) =>
    program
      .command('mcp')
      .description('serve the verbs as tools of the Model Context Protocol, on stdin and stdout')
      .option('--agent <id>', 'serve this agent, whose token has to be there, and never the person')
      .addHelpText('after', '\nExample:\n  pawl mcp')
      .action(async (options) => {
        const { mcp } = await import('../command/mcp.ts');
        const { homeAt } = await import('@pawl/protocol/home');
        exit(await mcp(homeAt(), options));
      }),
};
