import type { CommandTable } from './tools.ts';
import { wholeNumber } from './tools.ts';

/** The commands for those who try things out or test them. */
export const devCommands: CommandTable = {
  dev: ({ program, addTo, act }) => {
    const group = program
      .command('dev')
      .description('what helps to try things out and to test them')
      .addHelpText('after', '\nExample:\n  pawl dev model-server');
    addTo(
      group,
      'model-server',
      'serve a scripted model that real CLIs can talk to, until Ctrl-C',
      'pawl dev model-server --port 4010 --scenario work',
    )
      .option('--port <n>', 'the port on 127.0.0.1; any free one by default', wholeNumber)
      .option('--scenario <name>', 'a built-in scenario or a file, when a request asks for none; work by default')
      .action((options) =>
        act(options, async (context) => (await import('../command/model-server.ts')).modelServer(context, options)),
      );
  },
};
