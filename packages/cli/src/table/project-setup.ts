import { Option } from 'commander';
import { init } from '../command/projects/init.ts';
import type { CommandTable } from './tools.ts';

export const projectSetupCommands: CommandTable = {
  init: ({ add, act }) =>
    add('make a repository a project', 'pawl init ~/code/shop')
      .argument('[path]', 'the repository', '.')
      .option('--name <name>', 'the project’s name')
      .option('-p, --provider <name>', 'coding CLI of the project’s agents; see pawl providers')
      .option('--crew', 'start its supervisor, merge-queue and workspace; see pawl crew')
      .option('--no-checks', 'do not detect checks or write .pawl/config.yaml')
      .option('--auto-merge', 'merge changes as soon as their checks pass; by default you merge each one')
      .option('--push', 'allow pushing main to its remote after automatic merges')
      .option('--commit', 'commit .pawl/config.yaml on the current branch, and nothing else')
      .action((path, options) => act(options, (context) => init(context, path, options))),
  definitions: ({ add, act }) =>
    add('list agent definitions and report broken files', 'pawl definitions')
      .option('--project <path>', 'the repository (default: current directory)')
      .action((options) =>
        act(options, async (context) =>
          (await import('../command/projects/definitions.ts')).definitions(context, options),
        ),
      ),
  trust: ({ add, act }) =>
    add('trust a repository’s definitions and settings in their current state', 'pawl trust ~/code/shop')
      .argument('[path]', 'the repository, or the worktree of an agent', '.')
      .option('--list', 'only list the files and their effect')
      .option('--yes', 'do not ask for confirmation')
      .option('--revoke', 'revoke trust')
      .action((path, options) =>
        act(options, async (context) => (await import('../command/projects/trust.ts')).trust(context, path, options)),
      ),
  worktree: ({ program, addTo, act }) => {
    const group = program
      .command('worktree')
      .description('list worktrees, restore one from the trash, or empty the trash')
      .addHelpText(
        'after',
        '\nExample:\n  pawl worktree ls\n  pawl worktree restore ENTRY\n  pawl worktree prune --older-than 14d',
      );
    addTo(group, 'ls', 'list the worktrees: in use, retained, in the trash', 'pawl worktree ls --json').action(
      (options) =>
        act(options, async (context) => (await import('../command/agents/worktree.ts')).listWorktrees(context)),
    );
    addTo(group, 'restore', 'restore a worktree from the trash', 'pawl worktree restore brave-otter')
      .argument('<entry>', 'its name in the trash')
      .action((entry, options) =>
        act(options, async (context) =>
          (await import('../command/agents/worktree.ts')).restoreWorktree(context, entry),
        ),
      );
    addTo(group, 'prune', 'delete worktrees in the trash for good', 'pawl worktree prune --older-than 30d --dry-run')
      .addOption(new Option('--older-than <duration>', 'minimum age: 30m, 12h, 14d, 0').default('14d'))
      .option('--force', 'include those with uncommitted work, which is archived first')
      .option('--yes', 'do not ask for confirmation')
      .option('--dry-run', 'only list what would be deleted')
      .action((options) =>
        act(options, async (context) => (await import('../command/agents/prune.ts')).prune(context, options)),
      );
  },
};
