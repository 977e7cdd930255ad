import type { CommandTable } from './tools.ts';
import { agentWord } from './tools.ts';

const load = () => import('../command/projects/rules.ts');

export const ruleCommands: CommandTable = {
  rules: ({ program, addTo, act }) => {
    const group = program
      .command('rules')
      .description('list, add and remove rules that decide before a person is asked')
      .addHelpText(
        'after',
        '\nExample:\n  pawl rules ls\n  pawl rules add --allow "command npm test" --project\n  pawl rules add --deny "tool Write secrets/**"',
      );
    addTo(group, 'ls', 'list the rules with scope, source and last use', 'pawl rules ls --json', {
      isDefault: true,
    }).action((options) => act(options, async (context) => (await load()).listRules(context)));
    addTo(group, 'add', 'add a rule', 'pawl rules add --allow "command npm run *" --project')
      .option('--allow <rule>', 'allow this: “command npm test”, “tool Write src/**”, “network *.example.org:443”')
      .option('--deny <rule>', 'deny this; a deny rule beats every allow rule')
      .option('-C, --project [path]', 'only in this project (without a path: current directory)')
      .option('--agent <agent>', `only for this agent: ${agentWord}`)
      .action((options) => act(options, async (context) => (await load()).addRule(context, options)));
    addTo(group, 'rm', 'remove a rule', 'pawl rules rm 8fKq')
      .argument('<rule>', 'its id or the start of it')
      .action((rule, options) => act(options, async (context) => (await load()).removeRule(context, rule)));
  },
};
