import type { CommandTable } from './tools.ts';
import { wholeNumber } from './tools.ts';

export const devCommands: CommandTable = {
  dev: ({ program, addTo, act }) => {
    const group = program
      .command('dev')
      .description('tools for trying things out and for tests')
      .addHelpText('after', '\nExample:\n  pawl dev model-server');
    addTo(
      group,
      'model-server',
      'serve a scripted model for real CLIs until Ctrl-C',
      'pawl dev model-server --port 4010 --scenario work',
    )
      .option('--port <n>', 'port on 127.0.0.1 (default: any free port)', wholeNumber)
      .option('--scenario <name>', 'default scenario, built-in or a file (default: work)')
      .action((options) =>
        act(options, async (context) =>
          (await import('../command/home/model-server.ts')).modelServer(context, options),
        ),
      );
  },
};
