import { accessLevels } from '@pawl/schema/access-level';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { CommandTable, Tools } from './tools.ts';
import { agentWord } from './tools.ts';

const errandWord = `${agentWord} of an errand`;
const loadErrand = () => import('../command/agents/errand.ts');

export const errandCommands: CommandTable = {
  errand: (tools) => {
    const { program, addTo, act } = tools;
    const group = program
      .command('errand')
      .description('run small jobs outside the queue, and merge or drop the result')
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
      .addOption(new Option('-p, --provider <name>', 'coding CLI to use; see pawl providers').env('PAWL_PROVIDER'))
      .option('-m, --model <name>', 'model, if the provider offers a choice')
      .option('-n, --name <alias>', 'alias (default: generated)')
      .addOption(
        new Option('--access <level>', 'full, ask or read-only (default: as the definition or config says)').choices(
          accessLevels,
        ),
      )
      .option('-C, --project <path>', 'the repository (default: current directory)')
      .option('--scenario <file>', 'scenario of the scripted provider')
      .action((words, options) =>
        act(options, async (context) => (await loadErrand()).startErrand(context, words, options)),
      );
    addTo(group, 'ls', 'list the errands', 'pawl errand ls --all')
      .option('-a, --all', 'include ended ones')
      .action((options) => act(options, async (context) => (await loadErrand()).listErrands(context, options)));
    addTo(group, 'send', 'say something more to an errand', 'pawl errand send brave-otter "in the docs, too"')
      .argument('<agent>', errandWord)
      .argument('<message>', 'message, in quotes')
      .action((agent, message, options) =>
        act(options, async (context) => (await loadErrand()).sendErrand(context, agent, message)),
      );
    addEnds(tools, group);
  },
};

function addEnds({ addTo, act }: Tools, group: Command): void {
  addTo(group, 'diff', 'show what an errand changed, committed or not', 'pawl errand diff brave-otter --stat')
    .argument('[agent]', `${errandWord} (default: the current agent)`)
    .option('--stat', 'only file names and line counts')
    .action((agent, options) =>
      act(options, async (context) => (await loadErrand()).diffErrand(context, agent, options)),
    );
  addTo(group, 'merge', 'merge an errand’s branch, and end the errand', 'pawl errand merge brave-otter --into main')
    .argument('<agent>', errandWord)
    .option('--into <branch>', 'the branch to merge into (default: the checked-out one)')
    .option('--commit', 'commit its uncommitted files first')
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
