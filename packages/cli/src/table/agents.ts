import { Option } from 'commander';
import { inspect } from '../command/inspect.ts';
import { logs } from '../command/logs.ts';
import { ps } from '../command/ps.ts';
import { work } from '../command/work.ts';
import type { CommandTable } from './tools.ts';
import {
  agentOrCurrentWord,
  agentWord,
  budget,
  budgetOrNone,
  keyed,
  modes,
  seconds,
  several,
  times,
  wholeNumber,
} from './tools.ts';

/** The commands that make agents and look at them. */
export const agentCommands: CommandTable = {
  work: ({ add, act }) =>
    add('put an agent to work on a task', 'pawl work "fix the login test" --follow')
      .argument('[task...]', 'what to do; - reads it from stdin; may be absent with --task or --next')
      .option('--as <definition>', 'what the agent is to be; worker when absent')
      .addOption(new Option('-p, --provider <name>', 'which coding agent').env('PAWL_PROVIDER'))
      .option('-m, --model <name>', 'which model, where the provider lets you choose')
      .option('--account <name>', 'whose credentials to use; the provider’s default account when absent')
      .addOption(new Option('--mode <mode>', 'what kind of work it is; execute when absent').choices(modes))
      .option('--budget <limits>', 'stop it beyond this: tokens=200000,turns=40,minutes=30,usd=5', budget)
      .option('--task <id>', 'take up this planned task; see pawl task ls')
      .addOption(new Option('--next', 'take up the first planned task that is ready').conflicts('task'))
      .option('-n, --name <alias>', 'the agent’s alias; adjective-animal when absent')
      .option(
        '-b, --base <rev>',
        'start from this commit, branch or tag; else from the remote’s main, or HEAD without a remote',
      )
      .addOption(new Option('--branch <rev>', 'the same as --base').conflicts('base'))
      .option('--push-to <branch>', 'let it push what it commits to this branch of origin; needs --branch')
      .option(
        '-C, --project <project>',
        'a project by name or path, when it is not the current directory; given again, the agent works in each',
        several,
      )
      .option('--no-project', 'work in a directory of its own that belongs to no project')
      .addOption(new Option('--repo <project>', 'the same as --project').argParser(several).conflicts('project'))
      .option('-o, --option <name=value>', 'what else the provider lets you choose; may be given again', keyed)
      .option('--scenario <file>', 'what the scripted provider plays')
      .option('-f, --follow', 'stay and show its output')
      .addOption(new Option('--wait', 'stay and print its result').conflicts('follow'))
      .action((words, options) => act(options, (context) => work(context, words, options))),
  fork: ({ add, act }) =>
    add('fork an agent: the child goes on from its history', 'pawl fork brave-otter "try it with a cache" --with-files')
      .argument('[agent]', `${agentWord}; the one you act as when absent`)
      .argument('[prompt]', 'the child’s first message, in quotes; without it the child waits')
      .allowExcessArguments()
      .option('--prompt <text>', 'the same, for a prompt of one word')
      .option('-m, --model <name>', 'another model than the parent’s')
      .option('-n, --name <alias>', 'the child’s alias; adjective-animal when absent')
      .option('--with-files', 'take the parent’s uncommitted files along')
      .option('--switch', 'act as the child from now on')
      .option('--no-switch', 'stay where you are: the default, unless config.yaml says switch_on_fork: true')
      .option('-p, --provider <name>', 'which coding agent, for a fork of agent 0')
      .option(
        '-C, --project <path>',
        'the project, for a child of an agent that has none; for agent 0 by default the current directory',
      )
      .option('--scenario <file>', 'what the scripted provider plays')
      .action((_agent, _prompt, options, command) =>
        act(options, async (context) => (await import('../command/fork.ts')).fork(context, command.args, options)),
      ),
  reply: ({ add, act }) =>
    add('answer what an agent asked you; it goes on', 'pawl reply brave-otter "use SQLite"')
      .argument('<id>', `the agent (${agentWord}), or the id of its question; see pawl inbox`)
      .argument('[answer]', 'the answer to its only question, in quotes')
      .option('--answer <id=text>', 'the answer to one of several; may be given again', keyed)
      .option('--not-now', 'nobody is there to answer: it decides itself and names what it assumed')
      .addOption(new Option('--allow', 'yes, to what it asked a permission for').conflicts('notNow'))
      .addOption(new Option('--deny', 'no; the answer says why').conflicts(['allow', 'notNow']))
      .allowExcessArguments()
      .action((_agent, _answer, options, command) =>
        act(options, async (context) => (await import('../command/reply.ts')).reply(context, command.args, options)),
      ),
  resume: ({ add, act }) =>
    add('let an agent that rests go on', 'pawl resume brave-otter "now the tests"')
      .argument('[agent]', agentOrCurrentWord)
      .argument('[prompt]', 'what to tell it, in quotes')
      .option('--budget <limits>', 'new limits, counted from its first session: tokens=400000,usd=none', budgetOrNone)
      .allowExcessArguments()
      .action((_agent, _prompt, options, command) =>
        act(options, async (context) => (await import('../command/resume.ts')).resume(context, command.args, options)),
      ),
  ps: ({ add, act }) =>
    add('list the agents', 'pawl ps --json')
      .option('-a, --all', 'with those that are dead')
      .option('--reaped', 'with those that were reaped too')
      .option('--project <name>', 'of one project only')
      .option('--limit <n>', 'how many', wholeNumber)
      .action((options) => act(options, (context) => ps(context, options))),
  tree: ({ add, act }) =>
    add('draw the family of agents', 'pawl tree --all')
      .option('-a, --all', 'with all that are dead')
      .action((options) =>
        act(options, async (context) => (await import('../command/tree.ts')).tree(context, options)),
      ),
  top: ({ add, act }) =>
    add('watch what runs and what it costs the machine; q leaves', 'pawl top --interval 5')
      .option('-n, --times <n>', 'leave after n pictures; one when nobody watches', times)
      .addOption(new Option('--interval <s>', 'seconds between two pictures').argParser(seconds).default(1))
      .action((options) => act(options, async (context) => (await import('../command/top.ts')).top(context, options))),
  logs: ({ add, act }) =>
    add('show what an agent printed', 'pawl logs -f brave-otter')
      .argument('[agent]', agentOrCurrentWord)
      .option('-f, --follow', 'go on until it has ended')
      .option('--raw', 'the bytes as they were printed')
      .option('--tail <n>', 'only the last n chunks', wholeNumber)
      .action((agent, options) => act(options, (context) => logs(context, agent, options))),
  history: ({ add, act }) =>
    add('show an agent’s conversation, inherited and own', 'pawl history brave-otter --own')
      .argument('[agent]', agentOrCurrentWord)
      .option('--own', 'only what it did not inherit')
      .option('--all', 'include cleared and rewound messages, marked as such')
      .option('--full', 'long messages too in full length')
      .action((agent, options) =>
        act(options, async (context) => (await import('../command/history.ts')).history(context, agent, options)),
      ),
  inspect: ({ add, act }) =>
    add('show everything about an agent', 'pawl inspect brave-otter')
      .argument('[agent]', agentOrCurrentWord)
      .action((agent, options) => act(options, (context) => inspect(context, agent))),
  diff: ({ add, act }) =>
    add(
      'show what an agent changed: its change, or its branch and worktree beyond their base',
      'pawl diff brave-otter --stat',
    )
      .argument('[agent]', agentOrCurrentWord)
      .option('--stat', 'only the files, with how many lines')
      .action((agent, options) =>
        act(options, async (context) => (await import('../command/change.ts')).diffAgent(context, agent, options)),
      ),
  switch: ({ add, act }) =>
    add('act as another agent, or show whom you act as', 'pawl switch next')
      .argument('[agent]', `${agentWord}; or parent, child, next, previous`)
      .action((agent, options) =>
        act(options, async (context) => (await import('../command/switch.ts')).switchTo(context, agent)),
      ),
};
