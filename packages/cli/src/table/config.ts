import type { CommandTable } from './tools.ts';

const commands = () => import('../command/projects/config.ts');
const keyWord = 'a key of config.yaml, with dots between the levels';

export const configCommands: CommandTable = {
  config: ({ program, addTo, act }) => {
    const group = program
      .command('config')
      .description('show and change settings')
      .addHelpText(
        'after',
        '\nExample:\n  pawl config ls\n  pawl config set provider claude\n  pawl config unset provider',
      );
    addTo(group, 'ls', 'list every key with its value', 'pawl config ls --json').action((options) =>
      act(options, async (context) => (await commands()).listConfig(context)),
    );
    addTo(group, 'get', 'print the value of a key', 'pawl config get questions.policy')
      .argument('<key>', keyWord)
      .action((key, options) => act(options, async (context) => (await commands()).getConfig(context, key)));
    addTo(group, 'set', 'set a key; comments in the file are kept', 'pawl config set provider claude')
      .argument('<key>', keyWord)
      .argument('<value>', 'as YAML: a word, a number, true, or [a, list]')
      .action((key, value, options) =>
        act(options, async (context) => (await commands()).setConfig(context, key, value)),
      );
    addTo(group, 'unset', 'remove a key, so that its default applies', 'pawl config unset provider')
      .argument('<key>', keyWord)
      .action((key, options) => act(options, async (context) => (await commands()).unsetConfig(context, key)));
  },
};
