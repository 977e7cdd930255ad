import type { TaskView } from '@pawl/protocol/view/task';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { CommandTable, Tools } from './tools.ts';
import { times } from './tools.ts';

/** The states of a task. They are named here because their schema takes long to load. */
export const taskStates: TaskView['state'][] = ['pending', 'in_progress', 'in_review', 'completed', 'blocked'];

const taskWord = 'its id, the start of it, or its exact name';
const load = () => import('../command/task.ts');

/** The commands about planned tasks. */
export const taskCommands: CommandTable = {
  task: (tools) => {
    const group = tools.program
      .command('task')
      .description('plan tasks: what is to be done, in which order, and what came of it')
      .addHelpText('after', '\nExample:\n  pawl task add "write the parser"\n  pawl task ls\n  pawl work --next');
    addPlanning(tools, group);
    addVerbs(tools, group);
  },
};

function addPlanning({ addTo, act }: Tools, group: Command): void {
  inProject(
    addTo(
      group,
      'add',
      'add a task; one that is there already is not added twice',
      'pawl task add "test the parser" --after "write the parser"',
    ),
  )
    .argument('<name>', 'what to do, in a few words')
    .option('--description <text>', 'what to do, at length; - reads it from stdin')
    .option('--phase <name>', 'the phase that it belongs to')
    .option('--after <task...>', 'tasks that have to be completed first')
    .option('--agent-id <agent>', 'beside the task of this agent: in its project and phase')
    .action((name, options) => act(options, async (context) => (await load()).addTask(context, name, options)));
  inProject(addTo(group, 'ls', 'list the tasks that are not completed', 'pawl task ls --state pending'))
    .addOption(new Option('--state <state>', 'only those in this state').choices(taskStates))
    .option('--phase <name>', 'only those of one phase')
    .option('-a, --all', 'with those that are completed')
    .action((options) => act(options, async (context) => (await load()).listTasks(context, options)));
  inProject(
    addTo(group, 'show', 'show a task, what it waits for, and what came of it', 'pawl task show "write the parser"'),
  )
    .argument('<task>', taskWord)
    .action((task, options) => act(options, async (context) => (await load()).showTask(context, task, options)));
  inProject(addTo(group, 'history', 'show what became of what agents were given to do', 'pawl task history -n 20'))
    .option('-n, --limit <number>', 'how many at the most; 10 when absent', times)
    .action((options) =>
      act(options, async (context) => (await import('../command/task-history.ts')).taskHistory(context, options)),
    );
}

function addVerbs({ addTo, act }: Tools, group: Command): void {
  inProject(addTo(group, 'done', 'complete a task by hand', 'pawl task done 4fGh --summary "it was there already"'))
    .argument('<task>', taskWord)
    .option('--summary <text>', 'what came of it, for those who depend on it; - reads it from stdin')
    .action((task, options) =>
      act(options, async (context) => (await load()).changeTask(context, 'done', task, options)),
    );
  inProject(addTo(group, 'block', 'keep a task from being taken up', 'pawl task block 4fGh "waits for the new API"'))
    .argument('<task>', taskWord)
    .argument('<reason>', 'why, in quotes')
    .action((task, reason, options) =>
      act(options, async (context) => (await load()).changeTask(context, 'block', task, { ...options, reason })),
    );
  inProject(addTo(group, 'unblock', 'let a task be taken up again', 'pawl task unblock 4fGh'))
    .argument('<task>', taskWord)
    .action((task, options) =>
      act(options, async (context) => (await load()).changeTask(context, 'unblock', task, options)),
    );
}

/** Lets a person name the repository: a new task goes to the current one without it, the others are looked for in all. */
function inProject(command: Command): Command {
  return command.option('-C, --project <path>', 'the repository that is meant');
}
