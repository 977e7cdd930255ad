import type { CommandTable, Tools } from './tools.ts';

/** The commands about credentials. */
export const accountCommands: CommandTable = {
  account: ({ program, addTo, act }) => {
    const group = program
      .command('account')
      .description('keep credentials for providers, and choose whose are used')
      .addHelpText('after', '\nExample:\n  pawl account ls\n  pawl account add claude --key-stdin < key.txt');
    addAdd(group, { addTo, act });
    addTo(group, 'ls', 'list the accounts, without their secrets', 'pawl account ls --provider claude')
      .option('--provider <provider>', 'of one provider only')
      .action((options) => act(options, async (context) => (await commands()).listAccounts(context, options)));
    addTo(group, 'rm', 'remove an account and delete its secret', 'pawl account rm claude-1')
      .argument('<account>', accountWord)
      .action((account, options) =>
        act(options, async (context) => (await commands()).removeAccount(context, account)),
      );
    addTo(group, 'test', 'ask the provider’s CLI for one word with an account', 'pawl account test claude-1')
      .argument('<account>', accountWord)
      .action((account, options) => act(options, async (context) => (await commands()).testAccount(context, account)));
    addTo(group, 'use', 'let new agents of its provider use an account', 'pawl account use claude-1 --clear')
      .argument('<account>', accountWord)
      .option('--clear', 'forget that it reached a limit or was not accepted')
      .action((account, options) =>
        act(options, async (context) => (await commands()).useAccount(context, account, options)),
      );
  },
};

const accountWord = 'name or id';

const commands = () => import('../command/account.ts');

function addAdd(group: Tools['program'], { addTo, act }: Pick<Tools, 'addTo' | 'act'>): void {
  addTo(
    group,
    'add',
    'keep a key, a token or a login for a provider',
    'pawl account add claude --token-stdin < token.txt',
  )
    .argument('<provider>', 'whose account it is')
    .option('--name <name>', 'what to call it')
    .option('--key-stdin', 'read an API key from stdin; a terminal does not show it')
    .option('--token-stdin', 'read a long-lived token from stdin, such as one of `claude setup-token`')
    .option('--key-env <variable>', 'take the API key from a variable of this shell')
    .option('--token <token>', 'the token itself; others on this machine may see it, so --token-stdin is better')
    .option('--from <directory>', 'copy the config directory of a CLI that is logged in')
    .option('--email <mail>', 'whose it is, to tell accounts apart')
    .option('--base-url <url>', 'the server that it is for, when that is not the provider’s own')
    .action((provider, options) =>
      act(options, async (context) => (await commands()).addAccount(context, provider, options)),
    );
}
