import { PawlError } from '@pawl/schema/error';
import type { Command } from 'commander';
import { wholeHelp } from '../help.ts';
import type { CommandTable } from './tools.ts';

export const helpCommands: CommandTable = {
  help: ({ program, whole, exit }) =>
    program
      .command('help')
      .description('show help for all commands, or for one')
      .argument('[command...]', 'a command, such as change merge')
      .option('-a, --all', 'list every command, by topic')
      .addHelpText('after', '\nExample:\n  pawl help change merge')
      .action((words, { all }) => {
        const root = whole();
        process.stdout.write(all === true ? wholeHelp(root) : helpFor(root, words));
        exit(0);
      }),
};

/** The help of the command that these words name. */
function helpFor(root: Command, words: readonly string[]): string {
  let command = root;
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (next === undefined) {
      throw new PawlError('usage', `There is no command ${JSON.stringify(words.join(' ').slice(0, 80))}.`, {
        hint: 'pawl help --all lists every command.',
      });
    }
    command = next;
  }
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}
