import type { Command } from 'commander';
import { Option } from 'commander';
import type { CommandTable, Tools } from './tools.ts';
import { agentWord } from './tools.ts';

const errandWord = `${agentWord} of an errand`;
const loadErrand = () => import('../command/errand.ts');

/** The commands about errands. */
export const errandCommands: CommandTable = {
  errand: (tools) => {
    const { program, addTo, act } = tools;
    const group = program
      .command('errand')
      .description('send an agent on a small errand, look at what it did, and take it over or not')
      .addHelpText(
        'after',
        '\nExample:\n  pawl errand start "fix the typo in the README"\n  pawl errand diff brave-otter\n  pawl errand merge brave-otter',
      );
    addTo(
      group,
      'start',
      'start an errand, in a worktree and on a branch of its own',
      'pawl errand start "fix the typo"',
    )
      .argument('<description...>', 'what to do, in at most 200 characters')
      .addOption(new Option('-p, --provider <name>', 'which coding agent').env('PAWL_PROVIDER'))
      .option('-m, --model <name>', 'which model, where the provider lets you choose')
      .option('-n, --name <alias>', 'the agent’s alias; adjective-animal when absent')
      .option('-C, --project <path>', 'the repository, when it is not the current directory')
      .option('--scenario <file>', 'what the scripted provider plays')
      .action((words, options) =>
        act(options, async (context) => (await loadErrand()).startErrand(context, words, options)),
      );
    addTo(group, 'ls', 'list the errands', 'pawl errand ls --all')
      .option('-a, --all', 'with those that have ended')
      .action((options) => act(options, async (context) => (await loadErrand()).listErrands(context, options)));
    addTo(group, 'send', 'say something more to an errand', 'pawl errand send brave-otter "in the docs, too"')
      .argument('<agent>', errandWord)
      .argument('<message>', 'what to say, in quotes')
      .action((agent, message, options) =>
        act(options, async (context) => (await loadErrand()).sendErrand(context, agent, message)),
      );
    addEnds(tools, group);
  },
};

function addEnds({ addTo, act }: Tools, group: Command): void {
  addTo(group, 'diff', 'show what an errand changed, committed or not', 'pawl errand diff brave-otter --stat')
    .argument('[agent]', `${errandWord}; the one you act as when absent`)
    .option('--stat', 'only the files, with how many lines')
    .action((agent, options) =>
      act(options, async (context) => (await loadErrand()).diffErrand(context, agent, options)),
    );
  addTo(group, 'merge', 'merge an errand’s branch, and end the errand', 'pawl errand merge brave-otter --into main')
    .argument('<agent>', errandWord)
    .option('--into <branch>', 'into this branch; the one that the project is on when absent')
    .option('--commit', 'commit first what is uncommitted in its worktree')
    .action((agent, options) =>
      act(options, async (context) => (await loadErrand()).mergeErrand(context, agent, options)),
    );
  addTo(
    group,
    'abandon',
    'end an errand; its worktree goes to the trash, its branch stays',
    'pawl errand abandon brave-otter',
  )
    .argument('<agent>', errandWord)
    .action((agent, options) => act(options, async (context) => (await loadErrand()).abandonErrand(context, agent)));
}
