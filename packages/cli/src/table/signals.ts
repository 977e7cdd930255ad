import type { AgentAction } from '@pawl/schema/definition';
import { Argument, Option } from 'commander';
import { stop } from '../command/agents/stop.ts';
import type { CommandTable, Tools } from './tools.ts';
import { agentOrCurrentWord, agentWord } from './tools.ts';

/** The actions of a policy. Listed here because their schema is slow to load. */
export const gatedActions: AgentAction[] = ['Patch', 'Finalize', 'Delegate', 'Approve'];

export const signalCommands: CommandTable = {
  stop: ({ add, act }) =>
    add('stop agents; their work is kept', 'pawl stop brave-otter')
      .argument('[agent...]', agentWord)
      .option('--all', 'stop every working agent: the emergency brake')
      .action((agents, options) => act(options, (context) => stop(context, agents, options))),
  pause: (tools) => addSignal(tools, 'pause', 'pause agents’ processes'),
  continue: (tools) => addSignal(tools, 'continue', 'continue paused agents'),
  interrupt: (tools) => addSignal(tools, 'interrupt', 'interrupt what agents are doing now'),
  cancel: ({ add, act }) =>
    add('cancel a run and everything it started', 'pawl cancel brave-otter')
      .argument('<agent-or-run>', 'an agent, for its open run, or the id of a run')
      .action((reference, options) =>
        act(options, async (context) => (await import('../command/agents/signal.ts')).cancel(context, reference)),
      ),
  kill: ({ add, act }) =>
    add('end agents for good; their work and history are kept', 'pawl kill brave-otter --cascade')
      .argument('[agent...]', `${agentWord} (default: the current agent)`)
      .option('--cascade', 'with all their descendants')
      .action((agents, options) =>
        act(options, async (context) => (await import('../command/agents/kill.ts')).kill(context, agents, options)),
      ),
  reap: ({ add, act }) =>
    add('hide dead agents; their history is kept', 'pawl reap --all')
      .argument('[agent...]', agentWord)
      .option('--all', 'every dead agent')
      .action((agents, options) =>
        act(options, async (context) => (await import('../command/agents/reap.ts')).reap(context, agents, options)),
      ),
  clear: ({ add, act }) =>
    add('start an agent’s conversation afresh', 'pawl clear brave-otter')
      .argument('[agent]', agentOrCurrentWord)
      .action((_agent, options, command) =>
        act(options, async (context) =>
          (await import('../command/agents/note.ts')).note(context, 'clear', command.args),
        ),
      ),
  mark: (tools) => addNote(tools, 'mark', 'mark a point in an agent’s history', 'its name'),
  rewind: (tools) =>
    addNote(tools, 'rewind', 'rewind an agent’s history to a mark', 'label (default: the latest mark)'),
  gate: ({ add, act }) =>
    add(
      'check whether an agent may use a tool or take an action',
      'pawl gate brave-otter --tool Bash --input "git push"',
    )
      .argument('[agent]', agentOrCurrentWord)
      .option('--tool <name>', 'the tool')
      .option('--input <text>', 'the tool’s input')
      .addOption(new Option('--action <name>', 'the action').choices(gatedActions))
      .action((agent, options) =>
        act(options, async (context) => (await import('../command/changes/gate.ts')).gate(context, agent, options)),
      ),
  hook: ({ program }) =>
    program
      .command('hook')
      .description('answer a coding CLI’s hook call (JSON on stdin)')
      .addArgument(new Argument('<event>', 'the hook event').choices(hookEvents))
      .addHelpText('after', '\nExample:\n  pawl hook pre-tool-use')
      .action(async (event: (typeof hookEvents)[number]) => {
        const { preToolUse, readHookInput } = await import('../command/home/hook.ts');
        const { homeAt } = await import('@pawl/protocol/node/home');
        if (event !== 'pre-tool-use') {
          const { sessionHook } = await import('../command/home/session-hook.ts');
          const output = {
            write: (text: string) => void process.stdout.write(text),
            warn: (text: string) => void process.stderr.write(`${text}\n`),
          };
          process.exit(await sessionHook(homeAt(), event, await readHookInput(process.stdin), output));
        }
        const streams = { input: process.stdin, write: (text: string) => void process.stdout.write(text) };
        // Pending work must not keep the process alive: the CLI waits for the exit, not for the answer.
        process.exit(await preToolUse(homeAt(), streams));
      }),
};

/** The events at which a coding CLI calls `pawl hook`. */
const hookEvents = ['pre-tool-use', 'session-start', 'user-prompt', 'stop'] as const;

function addSignal({ add, act }: Tools, verb: 'pause' | 'continue' | 'interrupt', summary: string): void {
  add(summary, `pawl ${verb} brave-otter`)
    .argument('<agent...>', agentWord)
    .action((agents, options) =>
      act(options, async (context) => (await import('../command/agents/signal.ts')).signal(context, verb, agents)),
    );
}

function addNote({ add, act }: Tools, verb: 'mark' | 'rewind', summary: string, label: string): void {
  add(summary, `pawl ${verb} brave-otter "before the refactoring"`)
    .argument('[agent]', agentOrCurrentWord)
    .argument('[label]', label)
    .action((_agent, _label, options, command) =>
      act(options, async (context) => (await import('../command/agents/note.ts')).note(context, verb, command.args)),
    );
}
