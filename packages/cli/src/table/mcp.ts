import type { CommandTable } from './tools.ts';

export const mcpCommands: CommandTable = {
  whoami: ({ add, act }) =>
    add('show whether you act as an agent or as the person', 'pawl whoami --json').action((options) =>
      act(options, async (context) => (await import('../command/agents/whoami.ts')).whoami(context)),
    ),
  mcp: ({ program, exit }) =>
    program
      .command('mcp')
      .description('serve Pawl’s tools over MCP on stdin and stdout')
      .option('--agent <id>', 'serve this agent, with its own token, never the person')
      .addHelpText('after', '\nExample:\n  pawl mcp')
      .action(async (options) => {
        const { mcp } = await import('../command/home/mcp.ts');
        const { homeAt } = await import('@pawl/protocol/node/home');
        exit(await mcp(homeAt(), options));
      }),
};
