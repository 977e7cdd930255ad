import type { Command } from 'commander';
import { Option } from 'commander';
import type { architects as Architects, ArchitectOptions } from '../command/plan/architect.ts';
import type { CommandTable, Tools } from './tools.ts';
import { budget, budgetOrNone, times, wholeNumber } from './tools.ts';

type ArchitectVerb = keyof typeof Architects;
const proposalWord = 'its id, or the start of it';
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
    addArchitects(tools, group);
    addVerbs(tools, group);
    addReviews(tools, group);
  },
  proposal: (tools) => {
    const group = tools.program
      .command('proposal')
      .description('decide about the proposals of planning agents')
      .addHelpText('after', '\nExample:\n  pawl proposal ls\n  pawl proposal accept 4fGh');
    addProposals(tools, group);
  },
};

function addSight({ addTo, act }: Tools, group: Command): void {
  inProject(addTo(group, 'new', 'start a plan from a wish', 'pawl plan new --file wish.md'))
    .argument('[text...]', 'what you want (- reads stdin; nothing opens your editor)')
    .option('--name <name>', 'its name (default: the first line)')
    .option('--file <path>', 'read the text from a file')
    .option('--tiptap', 'the text is a document of Tiptap, in JSON')
    .option('--issue <number>', 'read it from an issue on GitHub, with gh', wholeNumber)
    .addOption(new Option('--mode <mode>', 'stop after each phase for a review, or continue').choices(planModes))
    .option('--budget <limits>', 'limits over all its agents: usd=20', budget)
    .option('--branch', 'collect its work on a branch of its own, which lands as one change')
    .action((text, options) => act(options, async (context) => (await load()).newPlan(context, text, options)));
  inProject(addTo(group, 'ls', 'list plans', 'pawl plan ls --all'))
    .option('-a, --all', 'include archived plans')
    .action((options) => act(options, async (context) => (await load()).listPlans(context, options)));
  inProject(addTo(group, 'show', 'show a plan: phases, tasks, states and causes', 'pawl plan show 4fGh --watch'))
    .argument('<plan>', planWord)
    .option('--page <page>', 'print one of its pages')
    .option('--tiptap', 'print the page as a document of Tiptap, in JSON')
    .option('--watch', 'show it again whenever it changes, until it is over')
    .action((plan, options) => act(options, async (context) => (await load()).showPlan(context, plan, options)));
  inProject(addTo(group, 'graph', 'show which tasks can start together', 'pawl plan graph 4fGh --mermaid'))
    .argument('<plan>', planWord)
    .option('--mermaid', 'print a Mermaid graph')
    .action((plan, options) => act(options, async (context) => (await load()).graphPlan(context, plan, options)));
  inProject(addTo(group, 'edit', 'change a plan or one of its pages', 'pawl plan edit 4fGh --page Wish'))
    .argument('<plan>', planWord)
    .option('--name <name>', 'rename it')
    .addOption(new Option('--mode <mode>', 'stop after each phase for a review, or continue').choices(planModes))
    .option('--budget <limits>', 'new limits: usd=40,tokens=none', budgetOrNone)
    .option('--page <page>', 'the page to edit, by id or title')
    .option('--title <title>', 'title of the page; a new page without --page')
    .option('--parent <page>', 'the page above it')
    .option('--file <path>', 'new text of the page (- reads stdin; default: your editor)')
    .option('--tiptap', 'the text is a document of Tiptap, in JSON')
    .action((plan, options) => act(options, async (context) => (await load()).editPlan(context, plan, options)));
}

/** The work of each architect, and an example. */
const architects: [verb: ArchitectVerb, summary: string, example: string][] = [
  ['discuss', 'let an architect find what has to be decided', 'pawl plan discuss 4fGh'],
  ['draft', 'let an architect divide the plan into phases', 'pawl plan draft 4fGh --wait'],
  ['detail', 'let an architect turn a phase into tasks', 'pawl plan detail 4fGh "orders can be cancelled"'],
  ['refine', 'let an architect improve the pages', 'pawl plan refine 4fGh "name the limits"'],
  ['chat', 'change the plan in a conversation', 'pawl plan chat 4fGh "split the second phase"'],
];

function addArchitects({ addTo, act }: Tools, group: Command): void {
  for (const [verb, summary, example] of architects) {
    const command = inProject(addTo(group, verb, summary, example)).argument('<plan>', planWord);
    if (verb === 'detail') command.argument('[phase]', 'its id or name (default: the first one without tasks)');
    command
      .argument('[message...]', 'what to do in particular')
      .option('-p, --provider <name>', 'coding CLI')
      .option('-m, --model <model>', 'model')
      .option('--account <name>', 'account')
      .option('--as <definition>', 'definition (default: architect)')
      .option('--budget <limits>', 'limits: tokens=200000,usd=5', budget)
      .option('--scenario <file>', 'scenario of the scripted provider')
      .option('-f, --follow', 'follow its output until it ends')
      .option('--wait', 'wait for its result')
      .action((plan: string, ...rest: unknown[]) => {
        const options = rest.at(-2) as ArchitectOptions;
        const phase = verb === 'detail' ? (rest[0] as string | undefined) : undefined;
        const message = (verb === 'detail' ? rest[1] : rest[0]) as string[];
        return act(options, async (context) =>
          (await import('../command/plan/architect.ts')).startArchitect(context, verb, plan, {
            message,
            phase,
            options,
          }),
        );
      });
  }
}

const loadVerbs = () => import('../command/plan/plan-verb.ts');

function addVerbs({ addTo, act }: Tools, group: Command): void {
  inProject(addTo(group, 'stage', 'look for errors, warnings and waves; changes nothing', 'pawl plan stage 4fGh'))
    .argument('<plan>', planWord)
    .action((plan, options) => act(options, async (context) => (await loadVerbs()).stagePlan(context, plan, options)));
  inProject(addTo(group, 'approve', 'approve a plan as it is now', 'pawl plan approve 4fGh --hash 81ab3f0c22d1'))
    .argument('<plan>', planWord)
    .option('--hash <hash>', 'refuse if its content is another one; see pawl plan stage')
    .option('--accept-warnings', 'approve it although it has warnings')
    .action((plan, options) =>
      act(options, async (context) => (await loadVerbs()).changePlan(context, 'approve', plan, options)),
    );
  inProject(addTo(group, 'launch', 'start the work of an approved plan', 'pawl plan launch 4fGh --agents 3'))
    .argument('<plan>', planWord)
    .option('--agents <n>', 'agents that work at the same time (default: 4)', times)
    .option('--as <definition>', 'definition of its agents (default: worker)')
    .option('-p, --provider <name>', 'coding CLI')
    .option('-m, --model <model>', 'model')
    .option('--account <name>', 'account')
    .option('--scenario <file>', 'scenario of the scripted provider')
    .action((plan, options) =>
      act(options, async (context) => (await loadVerbs()).changePlan(context, 'launch', plan, options)),
    );
  const others = [
    ['pause', 'start nothing more; agents that work finish their tasks'],
    ['resume', 'resume a paused plan'],
    ['archive', 'put a plan away'],
  ] as const;
  for (const [verb, summary] of others) {
    inProject(addTo(group, verb, summary, `pawl plan ${verb} 4fGh`))
      .argument('<plan>', planWord)
      .action((plan, options) =>
        act(options, async (context) => (await loadVerbs()).changePlan(context, verb, plan, options)),
      );
  }
}

const loadReviews = () => import('../command/plan/review.ts');

function addReviews({ addTo, act }: Tools, group: Command): void {
  inProject(addTo(group, 'review', 'read, comment or approve the work of a phase', 'pawl plan review 4fGh --diff'))
    .argument('<plan>', planWord)
    .argument('[phase]', 'its id or name (default: the only one that waits)')
    .option('--diff', 'print the diff')
    .option('--comment <text>', 'comment on it; on a line with --file and --line')
    .option('--file <path>', 'the file that the comment is about, from the root of the repository')
    .option('--line <number>', 'the line there', wholeNumber)
    .option('--approve', 'approve it, so that the phases after it may start')
    .option('--hash <hash>', 'refuse if the work is not the one that you read')
    .action((plan, phase, options) =>
      act(options, async (context) => (await loadReviews()).reviewPhase(context, plan, phase, options)),
    );
  inProject(addTo(group, 'land', 'ask to merge the work of a plan', 'pawl plan land 4fGh'))
    .argument('<plan>', planWord)
    .action((plan, options) => act(options, async (context) => (await loadReviews()).landPlan(context, plan, options)));
  inProject(
    addTo(group, 'revert', 'propose a change that undoes landed work', 'pawl plan revert 4fGh "add the parser"'),
  )
    .argument('<plan>', planWord)
    .argument('[part]', 'only the work of this phase or task, by id or name')
    .action((plan, part, options) =>
      act(options, async (context) => (await loadReviews()).revertPlan(context, plan, part, options)),
    );
  inProject(
    addTo(group, 'changes', 'request changes of a phase: one revision handles all comments', 'pawl plan changes 4fGh'),
  )
    .argument('<plan>', planWord)
    .argument('[comment...]', 'one more comment, on the phase as a whole')
    .option('--phase <phase>', 'its id or name (default: the only one that waits)')
    .action((plan, comment, options) =>
      act(options, async (context) => (await loadReviews()).requestChanges(context, plan, comment, options)),
    );
  addTo(group, 'answer', 'answer a review thread', 'pawl plan answer 81ab3f0c "it is checked in the parser now"')
    .argument('<thread>', 'its id, or the start of it')
    .argument('<text>', 'the answer, in quotes')
    .action((thread, text, options) =>
      act(options, async (context) => (await loadReviews()).settleThread(context, thread, text)),
    );
  addTo(group, 'resolve', 'close a review thread', 'pawl plan resolve 81ab3f0c')
    .argument('<thread>', 'its id, or the start of it')
    .action((thread, options) =>
      act(options, async (context) => (await loadReviews()).settleThread(context, thread, null)),
    );
}

function addProposals({ addTo, act }: Tools, group: Command): void {
  const loadProposals = () => import('../command/plan/proposal.ts');
  inProject(addTo(group, 'ls', 'list proposals that wait for a decision', 'pawl proposal ls'))
    .option('-a, --all', 'include those that are decided')
    .action((options) => act(options, async (context) => (await loadProposals()).listProposals(context, options)));
  addTo(group, 'show', 'show what a proposal would change', 'pawl proposal show 4fGh')
    .argument('<proposal>', proposalWord)
    .action((proposal, options) =>
      act(options, async (context) => (await loadProposals()).showProposal(context, proposal)),
    );
  addTo(group, 'accept', 'make a proposal part of its plan', 'pawl proposal accept 4fGh --items k2Lm 9xYz')
    .argument('<proposal>', proposalWord)
    .option('--items <items...>', 'only these, by id or name (default: all)')
    .option('--dry-run', 'only show what it would do')
    .action((proposal, options) =>
      act(options, async (context) => (await loadProposals()).decideProposal(context, 'accept', proposal, options)),
    );
  addTo(group, 'dismiss', 'dismiss a proposal', 'pawl proposal dismiss 4fGh "too large"')
    .argument('<proposal>', proposalWord)
    .argument('[reason]', 'why, in quotes')
    .action((proposal, reason, options) =>
      act(options, async (context) =>
        (await loadProposals()).decideProposal(context, 'dismiss', proposal, { ...options, reason }),
      ),
    );
  addTo(group, 'revert', 'restore the plan as it was before a proposal', 'pawl proposal revert 4fGh')
    .argument('<proposal>', proposalWord)
    .action((proposal, options) =>
      act(options, async (context) => (await loadProposals()).decideProposal(context, 'revert', proposal, options)),
    );
}

function inProject(command: Command): Command {
  return command.option('-C, --project <path>', 'the repository (default: current directory)');
}
