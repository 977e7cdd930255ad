import type { TaskView } from '@pawl/protocol/plan/view';
import type { Command } from 'commander';
import { Argument, Option } from 'commander';
import type { CommandTable, Tools } from './tools.ts';
import { times } from './tools.ts';

/** The states of a task. Listed here because their schema is slow to load. */
export const taskStates: TaskView['state'][] = [
  'pending',
  'in_progress',
  'in_review',
  'completed',
  'blocked',
  'skipped',
  'cancelled',
];

const taskWord = 'its id, the start of it, or its exact name';
const load = () => import('../command/changes/task.ts');

export const taskCommands: CommandTable = {
  task: (tools) => {
    const group = tools.program
      .command('task')
      .description('plan tasks and show their results')
      .addHelpText('after', '\nExample:\n  pawl task add "write the parser"\n  pawl task ls\n  pawl work --next');
    addPlanning(tools, group);
    addVerbs(tools, group);
  },
};

function addPlanning({ addTo, act }: Tools, group: Command): void {
  inProject(
    addTo(group, 'add', 'add a task, unless it exists', 'pawl task add "test the parser" --after "write the parser"'),
  )
    .argument('<name>', 'the task in a few words')
    .option('--description <text>', 'full description (- reads stdin)')
    .option('--phase <name>', 'the task’s phase')
    .option('--after <task...>', 'tasks to complete first')
    .option('--agent-id <agent>', 'add it to the project and phase of this agent’s task')
    .action((name, options) => act(options, async (context) => (await load()).addTask(context, name, options)));
  inProject(addTo(group, 'ls', 'list open tasks', 'pawl task ls --state pending'))
    .addOption(new Option('--state <state>', 'only in this state').choices(taskStates))
    .option('--phase <name>', 'only of this phase')
    .option('-a, --all', 'include completed tasks')
    .action((options) => act(options, async (context) => (await load()).listTasks(context, options)));
  inProject(addTo(group, 'show', 'show a task, its dependencies and its result', 'pawl task show "write the parser"'))
    .argument('<task>', taskWord)
    .action((task, options) => act(options, async (context) => (await load()).showTask(context, task, options)));
  inProject(addTo(group, 'history', 'show the outcome of past work', 'pawl task history -n 20'))
    .option('-n, --limit <number>', 'maximum number (default: 10)', times)
    .action((options) =>
      act(options, async (context) =>
        (await import('../command/changes/task-history.ts')).taskHistory(context, options),
      ),
    );
}

function addVerbs({ addTo, act }: Tools, group: Command): void {
  inProject(addTo(group, 'done', 'complete a task by hand', 'pawl task done 4fGh --summary "it was there already"'))
    .argument('<task>', taskWord)
    .option('--summary <text>', 'result, for dependent tasks (- reads stdin)')
    .action((task, options) =>
      act(options, async (context) => (await load()).changeTask(context, 'done', task, options)),
    );
  inProject(addTo(group, 'block', 'block a task', 'pawl task block 4fGh "waits for the new API"'))
    .argument('<task>', taskWord)
    .argument('<reason>', 'why, in quotes')
    .action((task, reason, options) =>
      act(options, async (context) => (await load()).changeTask(context, 'block', task, { ...options, reason })),
    );
  inProject(addTo(group, 'priority', 'change the priority of a task', 'pawl task priority 4fGh high'))
    .argument('<task>', taskWord)
    .addArgument(new Argument('<priority>', 'how urgent it is').choices(['high', 'medium', 'low']))
    .action((task, priority, options) =>
      act(options, async (context) => (await load()).changeTask(context, 'edit', task, { ...options, priority })),
    );
  inProject(addTo(group, 'cancel', 'cancel a task that no agent works on', 'pawl task cancel 4fGh'))
    .argument('<task>', taskWord)
    .action((task, options) =>
      act(options, async (context) => (await load()).changeTask(context, 'edit', task, { ...options, cancel: true })),
    );
  inProject(addTo(group, 'unblock', 'unblock a task', 'pawl task unblock 4fGh'))
    .argument('<task>', taskWord)
    .action((task, options) =>
      act(options, async (context) => (await load()).changeTask(context, 'unblock', task, options)),
    );
}

/**
 * Adds an option to name the repository: by default a new task goes to the current one, and the others are searched in
 * all.
 */
function inProject(command: Command): Command {
  return command.option('-C, --project <path>', 'the repository (default: current directory)');
}
