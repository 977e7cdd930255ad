import { accessLevels } from '@pawl/schema/access-level';
import { Option } from 'commander';
import { inspect } from '../command/agents/inspect.ts';
import { logs } from '../command/agents/logs.ts';
import { ps } from '../command/agents/ps.ts';
import { work } from '../command/agents/work.ts';
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

export const agentCommands: CommandTable = {
  work: ({ add, act }) =>
    add('put an agent to work on a task', 'pawl work "fix the login test" --follow')
      .argument('[task...]', 'what to do (- reads stdin); optional with --task or --next')
      .option('--as <definition>', 'the agent’s definition (default: worker)')
      .addOption(new Option('-p, --provider <name>', 'coding CLI to use; see pawl providers').env('PAWL_PROVIDER'))
      .option('-m, --model <name>', 'model, if the provider offers a choice')
      .option('--account <name>', 'account to use (default: the provider’s default account)')
      .addOption(new Option('--mode <mode>', 'kind of work (default: execute)').choices(modes))
      .option('--budget <limits>', 'stop it at these limits: tokens=200000,turns=40,minutes=30,usd=5', budget)
      .addOption(
        new Option('--access <level>', 'full, ask or read-only (default: as the definition or config says)').choices(
          accessLevels,
        ),
      )
      .option('--no-proxy', 'give its sessions the API key itself, instead of a token for Pawl’s proxy')
      .option('--task <id>', 'take this planned task; see pawl task ls')
      .addOption(new Option('--next', 'take the first planned task that is ready').conflicts('task'))
      .addOption(
        new Option('--issue <number>', 'work on an issue of GitHub, with gh; more words are added to it')
          .argParser(wholeNumber)
          .conflicts(['task', 'next']),
      )
      .option('-n, --name <alias>', 'alias (default: generated)')
      .option('-b, --base <rev>', 'commit, branch or tag to start from (default: the remote’s main, or HEAD)')
      .addOption(new Option('--branch <rev>', 'the same as --base').conflicts('base'))
      .option('--push-to <branch>', 'let it push its commits to this branch of origin; needs --branch')
      .option(
        '-C, --project <project>',
        'project by name or path (default: current directory); repeat to work in several',
        several,
      )
      .option('--no-project', 'work in a directory of its own, without a project')
      .addOption(new Option('--repo <project>', 'the same as --project').argParser(several).conflicts('project'))
      .option('-o, --option <name=value>', 'provider option; repeatable', keyed)
      .option('--scenario <file>', 'scenario of the scripted provider')
      .option('-f, --follow', 'follow its output')
      .addOption(new Option('--wait', 'wait and print the result').conflicts('follow'))
      .action((words, options) => act(options, (context) => work(context, words, options))),
  chat: ({ add, act }) =>
    add('talk with an agent in the terminal', 'pawl chat --once "review this" < change.diff')
      .argument('[agent]', `${agentWord}, or a definition (default: the current agent, or your workspace agent)`)
      .option('--once [message]', 'say one thing, with what comes through a pipe, and print only the answer')
      .option('-p, --provider <name>', 'coding CLI of an agent that is started')
      .option('-m, --model <name>', 'model of an agent that is started')
      .option('--thread <name>', 'chat thread of the runs (default: that of the last run)')
      .action((agent, options) =>
        act(options, async (context) => (await import('../command/chat/chat.ts')).chat(context, agent, options)),
      ),
  fork: ({ add, act }) =>
    add('fork an agent; the child inherits its history', 'pawl fork brave-otter "try it with a cache" --with-files')
      .argument('[agent]', `${agentWord} (default: the current agent)`)
      .argument('[prompt]', 'the child’s first message, in quotes; without it the child stays idle')
      .allowExcessArguments()
      .option('--prompt <text>', 'same as [prompt], for a single word')
      .option('-m, --model <name>', 'model (default: the parent’s)')
      .option('-n, --name <alias>', 'alias (default: generated)')
      .addOption(
        new Option('--access <level>', 'access, at most the parent’s (default: the same)').choices(accessLevels),
      )
      .option('--no-proxy', 'give its sessions the API key itself (default: as the parent)')
      .option('--with-files', 'copy the parent’s uncommitted files')
      .option('--switch', 'make the child the current agent')
      .option('--no-switch', 'keep the current agent (default, unless switch_on_fork: true in config.yaml)')
      .option('-p, --provider <name>', 'coding CLI, for a fork of agent 0')
      .option(
        '-C, --project <path>',
        'project of the child, if the parent has none (default for agent 0: current directory)',
      )
      .option('--scenario <file>', 'scenario of the scripted provider')
      .action((_agent, _prompt, options, command) =>
        act(options, async (context) =>
          (await import('../command/agents/fork.ts')).fork(context, command.args, options),
        ),
      ),
  reply: ({ add, act }) =>
    add('answer an agent’s question or request for permission', 'pawl reply brave-otter "use SQLite"')
      .argument('<id>', `the agent (${agentWord}), or the id of its question or request; see pawl inbox`)
      .argument('[answer]', 'the answer, in quotes; with --deny the reason, which the model learns')
      .option('--answer <id=text>', 'answer one of several questions; repeatable', keyed)
      .option('--not-now', 'let the agent decide for itself and state its assumptions')
      .addOption(new Option('--allow', 'grant the permission it asked for, this once').conflicts('notNow'))
      .addOption(new Option('--session', 'grant it, and the same again until the session ends').conflicts('notNow'))
      .addOption(
        new Option('--agent', 'grant it, and the same again always for this agent').conflicts(['notNow', 'session']),
      )
      .addOption(
        new Option('--always', 'grant it, and the same again always in this project').conflicts([
          'notNow',
          'session',
          'agent',
        ]),
      )
      .addOption(
        new Option('--deny', 'refuse it: pawl reply ID --deny "use npm test"').conflicts([
          'allow',
          'session',
          'agent',
          'always',
          'notNow',
        ]),
      )
      .allowExcessArguments()
      .action((_agent, _answer, options, command) =>
        act(options, async (context) =>
          (await import('../command/mail/reply.ts')).reply(context, command.args, options),
        ),
      ),
  resume: ({ add, act }) =>
    add('resume an idle agent', 'pawl resume brave-otter "now the tests"')
      .argument('[agent]', agentOrCurrentWord)
      .argument('[prompt]', 'message, in quotes')
      .option('--budget <limits>', 'new limits, counted from its first session: tokens=400000,usd=none', budgetOrNone)
      .option('--model <name>', 'continue with another model; for the provider pawl of any vendor: openai/gpt-5.1')
      .option('--provider <name>', 'continue with another provider, which receives the conversation')
      .option('--account <name>', 'continue with another account')
      .allowExcessArguments()
      .action((_agent, _prompt, options, command) =>
        act(options, async (context) =>
          (await import('../command/agents/resume.ts')).resume(context, command.args, options),
        ),
      ),
  ps: ({ add, act }) =>
    add('list agents', 'pawl ps --json')
      .option('-a, --all', 'include dead agents')
      .option('--reaped', 'include reaped agents')
      .option('--project <name>', 'only of this project')
      .option('--limit <n>', 'maximum number', wholeNumber)
      .action((options) => act(options, (context) => ps(context, options))),
  tree: ({ add, act }) =>
    add('show agents as a tree', 'pawl tree --all')
      .option('-a, --all', 'include dead agents')
      .action((options) =>
        act(options, async (context) => (await import('../command/agents/tree.ts')).tree(context, options)),
      ),
  top: ({ add, act }) =>
    add('watch agents and their CPU and memory use; q quits', 'pawl top --interval 5')
      .option('-n, --times <n>', 'stop after n updates (default without a terminal: 1)', times)
      .addOption(new Option('--interval <s>', 'seconds between updates').argParser(seconds).default(1))
      .action((options) =>
        act(options, async (context) => (await import('../command/agents/top.ts')).top(context, options)),
      ),
  logs: ({ add, act }) =>
    add('show an agent’s output', 'pawl logs -f brave-otter')
      .argument('[agent]', agentOrCurrentWord)
      .option('-f, --follow', 'follow until it ends')
      .option('--raw', 'print raw bytes')
      .option('--tail <n>', 'only the last n chunks', wholeNumber)
      .action((agent, options) => act(options, (context) => logs(context, agent, options))),
  history: ({ add, act }) =>
    add('show an agent’s conversation', 'pawl history brave-otter --own')
      .argument('[agent]', agentOrCurrentWord)
      .option('--own', 'without inherited messages')
      .option('--all', 'include cleared, rewound and summarised messages, marked as such')
      .option('--full', 'print long messages in full')
      .action((agent, options) =>
        act(options, async (context) =>
          (await import('../command/agents/history.ts')).history(context, agent, options),
        ),
      ),
  inspect: ({ add, act }) =>
    add('show all details of an agent', 'pawl inspect brave-otter')
      .argument('[agent]', agentOrCurrentWord)
      .action((agent, options) => act(options, (context) => inspect(context, agent))),
  diff: ({ add, act }) =>
    add('show what an agent changed', 'pawl diff brave-otter --stat')
      .argument('[agent]', agentOrCurrentWord)
      .option('--stat', 'only file names and line counts')
      .action((agent, options) =>
        act(options, async (context) =>
          (await import('../command/changes/change.ts')).diffAgent(context, agent, options),
        ),
      ),
  switch: ({ add, act }) =>
    add('make another agent the current one, or show which one is', 'pawl switch next')
      .argument('[agent]', `${agentWord}; or parent, child, next, previous`)
      .action((agent, options) =>
        act(options, async (context) => (await import('../command/agents/switch.ts')).switchTo(context, agent)),
      ),
};
