import type { Command } from 'commander';
import type { CommandTable } from './tools.ts';

const loadCrew = () => import('../command/projects/crew.ts');
const loadProject = () => import('../command/projects/project.ts');
const projectWord = 'name, id, or a path in it (default: current directory)';

export const projectCommands: CommandTable = {
  project: ({ program, addTo, act }) => {
    const group = program
      .command('project')
      .description('list, configure and untrack projects')
      .addHelpText(
        'after',
        '\nExample:\n  pawl project ls\n  pawl project config provider claude\n  pawl project rm shop',
      );
    addTo(group, 'ls', 'list the projects', 'pawl project ls --all')
      .option('-a, --all', 'include untracked projects')
      .action((options) => act(options, async (context) => (await loadProject()).listProjects(context, options)));
    addTo(group, 'show', 'show a project and its settings', 'pawl project show shop')
      .argument('[project]', projectWord)
      .action((word, options) => act(options, async (context) => (await loadProject()).showProject(context, word)));
    inProject(addTo(group, 'config', 'show or change a project’s settings', 'pawl project config provider claude'))
      .argument('[setting]', 'provider, or crew (on, off)')
      .argument('[value]', 'the new value')
      .option('--unset', 'remove the project’s own choice')
      .action((setting, value, options) =>
        act(options, async (context) => (await loadProject()).configProject(context, setting, value, options)),
      );
    addTo(group, 'rm', 'stop tracking a project; nothing is deleted', 'pawl project rm shop')
      .argument('[project]', projectWord)
      .option('--force', 'stop its working agents; they keep their worktrees and branches')
      .action((word, options) =>
        act(options, async (context) => (await loadProject()).removeProject(context, word, options)),
      );
  },
  crew: ({ program, addTo, act }) => {
    const group = program
      .command('crew')
      .description('start and stop a project’s supervisor, merge-queue and workspace agents')
      .addHelpText('after', '\nExample:\n  pawl crew start\n  pawl send workspace "what is everybody up to?"');
    inProject(addTo(group, 'status', 'show the crew', 'pawl crew status --json', { isDefault: true })).action(
      (options) => act(options, async (context) => (await loadCrew()).showCrew(context, options)),
    );
    inProject(
      addTo(group, 'start', 'start missing crew members; they use no tokens until they get mail', 'pawl crew start'),
    )
      .option('-p, --provider <name>', 'coding CLI of the crew')
      .action((options) => act(options, async (context) => (await loadCrew()).startCrew(context, options)));
    inProject(addTo(group, 'stop', 'stop the crew; history and commits are kept', 'pawl crew stop')).action((options) =>
      act(options, async (context) => (await loadCrew()).stopCrew(context, options)),
    );
  },
};

/** Adds an option to name the repository. */
function inProject(command: Command): Command {
  return command.option('-C, --project <path>', 'the repository (default: current directory)');
}
