import type { CommandTable, Tools } from './tools.ts';

export const accountCommands: CommandTable = {
  account: ({ program, addTo, act }) => {
    const group = program
      .command('account')
      .description('manage provider credentials')
      .addHelpText('after', '\nExample:\n  pawl account ls\n  pawl account add claude --key-stdin < key.txt');
    addAdd(group, { addTo, act });
    addTo(group, 'ls', 'list accounts, without secrets', 'pawl account ls --provider claude')
      .option('--provider <provider>', 'only of this provider')
      .action((options) => act(options, async (context) => (await commands()).listAccounts(context, options)));
    addTo(group, 'rm', 'remove an account and delete its secret', 'pawl account rm claude-1')
      .argument('<account>', accountWord)
      .action((account, options) =>
        act(options, async (context) => (await commands()).removeAccount(context, account)),
      );
    addTo(group, 'test', 'test an account with one request to the provider', 'pawl account test claude-1')
      .argument('<account>', accountWord)
      .action((account, options) => act(options, async (context) => (await commands()).testAccount(context, account)));
    addTo(group, 'use', 'make an account the default of its provider', 'pawl account use claude-1 --clear')
      .argument('<account>', accountWord)
      .option('--clear', 'clear a recorded limit or rejection')
      .action((account, options) =>
        act(options, async (context) => (await commands()).useAccount(context, account, options)),
      );
  },
};

const accountWord = 'name or id';

const commands = () => import('../command/projects/account.ts');

function addAdd(group: Tools['program'], { addTo, act }: Pick<Tools, 'addTo' | 'act'>): void {
  addTo(group, 'add', 'add a key, token or login for a provider', 'pawl account add claude --token-stdin < token.txt')
    .argument('<provider>', 'provider of the account')
    .option('--name <name>', 'its name')
    .option('--key-stdin', 'read an API key from stdin (not echoed)')
    .option('--token-stdin', 'read a long-lived token from stdin, such as one of `claude setup-token`')
    .option('--key-env <variable>', 'read the API key from this environment variable')
    .option('--token <token>', 'the token itself; visible to other users of this machine, so prefer --token-stdin')
    .option('--from <directory>', 'copy the config directory of a CLI that is logged in')
    .option('--email <mail>', 'owner, to tell accounts apart')
    .option('--base-url <url>', 'base URL, if not the provider’s own')
    .option('--no-proxy', 'give sessions its API key itself, instead of a token for Pawl’s proxy')
    .action((provider, options) =>
      act(options, async (context) => (await commands()).addAccount(context, provider, options)),
    );
}
