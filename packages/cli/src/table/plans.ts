import type { Command } from 'commander';
import { Option } from 'commander';
import type { CommandTable, Tools } from './tools.ts';
import { budget, budgetOrNone, wholeNumber } from './tools.ts';

const planWord = 'its id, the start of it, or its exact name';
const load = () => import('../command/plan/plan.ts');
/** The modes of a plan. Listed here because their schema is slow to load. */
const planModes = ['review', 'auto'];

export const planCommands: CommandTable = {
  plan: (tools) => {
    const group = tools.program
      .command('plan')
      .description('turn a wish into a plan, and a plan into landed work')
      .addHelpText('after', '\nExample:\n  pawl plan new "let customers cancel orders"\n  pawl plan show 4fGh');
    addSight(tools, group);
  },
};

function addSight({ addTo, act }: Tools, group: Command): void {
  inProject(addTo(group, 'new', 'start a plan from a wish', 'pawl plan new --file wish.md'))
    .argument('[text...]', 'what you want (- reads stdin; nothing opens your editor)')
    .option('--name <name>', 'its name (default: the first line)')
    .option('--file <path>', 'read the text from a file')
    .option('--issue <number>', 'read it from an issue on GitHub, with gh', wholeNumber)
    .addOption(new Option('--mode <mode>', 'stop after each phase for a review, or go on').choices(planModes))
    .option('--budget <limits>', 'limits over all its agents: usd=20', budget)
    .action((text, options) => act(options, async (context) => (await load()).newPlan(context, text, options)));
  inProject(addTo(group, 'ls', 'list plans', 'pawl plan ls --all'))
    .option('-a, --all', 'include archived plans')
    .action((options) => act(options, async (context) => (await load()).listPlans(context, options)));
  inProject(addTo(group, 'show', 'show a plan: phases, tasks, states and causes', 'pawl plan show 4fGh --watch'))
    .argument('<plan>', planWord)
    .option('--page <page>', 'print one of its pages')
    .option('--watch', 'show it again whenever it changes, until it is over')
    .action((plan, options) => act(options, async (context) => (await load()).showPlan(context, plan, options)));
  inProject(addTo(group, 'graph', 'show which tasks can start together', 'pawl plan graph 4fGh --mermaid'))
    .argument('<plan>', planWord)
    .option('--mermaid', 'print a Mermaid graph')
    .action((plan, options) => act(options, async (context) => (await load()).graphPlan(context, plan, options)));
  inProject(addTo(group, 'edit', 'change a plan or one of its pages', 'pawl plan edit 4fGh --page Wish'))
    .argument('<plan>', planWord)
    .option('--name <name>', 'rename it')
    .addOption(new Option('--mode <mode>', 'stop after each phase for a review, or go on').choices(planModes))
    .option('--budget <limits>', 'new limits: usd=40,tokens=none', budgetOrNone)
    .option('--page <page>', 'the page to edit, by id or title')
    .option('--title <title>', 'title of the page; a new page without --page')
    .option('--parent <page>', 'the page above it')
    .option('--file <path>', 'new text of the page (- reads stdin; default: your editor)')
    .action((plan, options) => act(options, async (context) => (await load()).editPlan(context, plan, options)));
}

function inProject(command: Command): Command {
  return command.option('-C, --project <path>', 'the repository (default: current directory)');
}
