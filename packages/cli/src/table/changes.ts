import type { Command } from 'commander';
import { waitTime } from '../agent/wait-time.ts';
import type { CommandTable, Tools } from './tools.ts';

const changeWord = 'its id, the start of it, its branch, or the alias of its author';
const load = () => import('../command/changes/change.ts');
const loadVerbs = () => import('../command/changes/change-verb.ts');
const loadQueue = () => import('../command/changes/queue.ts');

export const changeCommands: CommandTable = {
  change: (tools) => {
    const group = tools.program
      .command('change')
      .description('propose branches for main, review and merge them')
      .addHelpText('after', '\nExample:\n  pawl change open\n  pawl change ls\n  pawl queue');
    addLooks(tools, group);
    addWords(tools, group);
    addVerdicts(tools, group);
  },
  queue: (tools) => {
    const group = tools.program
      .command('queue')
      .description('show and control the merge queue')
      .addHelpText('after', '\nExample:\n  pawl queue');
    addQueue(tools, group);
  },
};

function addLooks({ addTo, act }: Tools, group: Command): void {
  inProject(
    addTo(
      group,
      'open',
      'propose a branch; a proposed branch is updated to its tip',
      'pawl change open --title "the parser takes comments" --summary -',
    ),
  )
    .argument('[branch]', 'branch (default: the agent’s own, or the checked-out one)')
    .option('--title <text>', 'one-line title (default: the task’s or the commit’s)')
    .option('--summary <text>', 'what was done and why, how it was tested, what is open (- reads stdin)')
    .option('--draft', 'do not check or merge it yet; pawl change merge does')
    .action((branch, options) => act(options, async (context) => (await load()).openChange(context, branch, options)));
  inProject(addTo(group, 'ls', 'list open changes', 'pawl change ls --all'))
    .option('-a, --all', 'include merged and closed changes')
    .action((options) => act(options, async (context) => (await load()).listChanges(context, options)));
  inProject(addTo(group, 'show', 'show a change: its state and why, comments, checks', 'pawl change show brave-otter'))
    .argument('<change>', changeWord)
    .action((change, options) => act(options, async (context) => (await load()).showChange(context, change, options)));
  inProject(addTo(group, 'diff', 'show the diff of a change', 'pawl change diff 4fGhXq12 --stat'))
    .argument('[change]', `${changeWord} (default: the current agent’s)`)
    .option('--stat', 'only file names and line counts')
    .action((change, options) => act(options, async (context) => (await load()).diffChange(context, change, options)));
  inProject(addTo(group, 'log', 'show the output of a change’s latest check', 'pawl change log brave-otter'))
    .argument('<change>', changeWord)
    .option('--check <id>', 'show another check; see pawl change show')
    .action((change, options) => act(options, async (context) => (await load()).logChange(context, change, options)));
}

function addWords({ addTo, act }: Tools, group: Command): void {
  inProject(
    addTo(
      group,
      'comment',
      'comment on a change; a comment that starts with [BLOCKING] blocks it',
      'pawl change comment 4fGhXq12 "[BLOCKING] src/login.ts:42: the token is logged"',
    ),
  )
    .argument('<change>', changeWord)
    .argument('<text>', 'message, in quotes (- reads stdin)')
    .option('--addresses <comment>', 'the comment this one resolves')
    .action((change, text, options) =>
      act(options, async (context) => (await loadVerbs()).commentChange(context, change, text, options)),
    );
  inProject(
    addTo(
      group,
      'close',
      'close a change without merging it',
      'pawl change close 4fGhXq12 --reason "too slow" --learnings "an index is needed first"',
    ),
  )
    .argument('<change>', changeWord)
    .requiredOption('--reason <text>', 'why, in one line')
    .option('--learnings <text>', 'what the next attempt should know (- reads stdin); required from agents')
    .action((change, options) =>
      act(options, async (context) => (await loadVerbs()).closeChange(context, change, options)),
    );
  inProject(addTo(group, 'retry', 'retry a change', 'pawl change retry 4fGhXq12'))
    .argument('<change>', changeWord)
    .action((change, options) =>
      act(options, async (context) => (await loadVerbs()).retryChange(context, change, options)),
    );
  inProject(
    addTo(
      group,
      'merge',
      'merge a change when its checks pass, and push main where there is a remote',
      'pawl change merge 4fGhXq12 --wait',
    ),
  )
    .argument('<change>', changeWord)
    .option('--fix', 'it repairs a red main, so it is accepted during an emergency')
    .option('--wait', 'wait until it is merged (exit 0), ejected or closed (1), or needs a person (7)')
    .option('--timeout <time>', 'with --wait: maximum wait, e.g. 30s or 10m (then exit 5)', waitTime)
    .action((change, options) =>
      act(options, async (context) => (await loadVerbs()).mergeChange(context, change, options)),
    );
}

/** For people only. */
function addVerdicts({ addTo, act }: Tools, group: Command): void {
  inProject(
    addTo(
      group,
      'fix',
      "resolve a change's conflict: start the merge in a worktree, then commit and propose it",
      'pawl change fix 4fGhXq12',
    ),
  )
    .argument('<change>', changeWord)
    .option('--continue', 'commit the merge once its conflicts are resolved and staged, and propose it')
    .action((change, options) =>
      act(options, async (context) => (await loadVerbs()).fixChange(context, change, options)),
    );
  inProject(
    addTo(group, 'approve', "approve a change's effect on the gate, as it is now", 'pawl change approve 4fGhXq12'),
  )
    .argument('<change>', changeWord)
    .option('--head <commit>', 'only this commit; refused if the branch has moved')
    .action((change, options) =>
      act(options, async (context) => (await loadVerbs()).approveChange(context, change, options)),
    );
  inProject(addTo(group, 'block', 'block a change', 'pawl change block 4fGhXq12 --reason "not before the release"'))
    .argument('<change>', changeWord)
    .requiredOption('--reason <text>', 'why')
    .action((change, options) =>
      act(options, async (context) => (await loadVerbs()).blockChange(context, change, options)),
    );
  inProject(addTo(group, 'unblock', 'release a blocked change', 'pawl change unblock 4fGhXq12'))
    .argument('<change>', changeWord)
    .action((change, options) =>
      act(options, async (context) => (await loadVerbs()).unblockChange(context, change, options)),
    );
}

function addQueue({ addTo, act }: Tools, group: Command): void {
  inProject(
    addTo(group, 'status', 'show main, the waiting changes, and why they wait', 'pawl queue status', {
      isDefault: true,
    }),
  ).action((options) => act(options, async (context) => (await loadQueue()).showQueues(context, options)));
  inProject(addTo(group, 'log', "show the output of main's latest check", 'pawl queue log'))
    .option('--check <id>', 'show another check; see pawl queue')
    .action((options) => act(options, async (context) => (await loadQueue()).logQueue(context, options)));
  inProject(addTo(group, 'check', 'check main now', 'pawl queue check --wait'))
    .option('--wait', 'wait until it is green (exit 0) or red (exit 1)')
    .option('--timeout <time>', 'with --wait: maximum wait, e.g. 30s or 10m (then exit 5)', waitTime)
    .action((options) => act(options, async (context) => (await loadQueue()).checkQueue(context, options)));
  for (const [verb, summary] of [
    ['pause', 'merge nothing until the queue is resumed'],
    ['resume', 'resume the queue'],
    ['allow-push', 'allow pushing main to its remote after automatic merges'],
    ['forbid-push', 'push main only for changes that you merge yourself'],
  ] as const) {
    inProject(addTo(group, verb, summary, `pawl queue ${verb}`)).action((options) =>
      act(options, async (context) => (await loadQueue()).turnQueue(context, verb, options)),
    );
  }
}

/** Adds an option to name the repository. */
function inProject(command: Command): Command {
  return command.option('-C, --project <path>', 'the repository (default: current directory)');
}
