import { Option } from 'commander';
import { waitTime } from '../agent/wait-time.ts';
import type { CommandTable } from './tools.ts';
import { agentWord } from './tools.ts';

export const questionCommands: CommandTable = {
  ask: ({ add, act }) =>
    add('ask an agent or the person and wait for the answer', 'pawl ask "which port?" --agent-id brave-otter')
      .argument('<question>', 'what to ask, in quotes')
      .option('--from <agent>', 'the asking agent (default: yourself)')
      .option('--agent-id <agent>', `the agent to ask: ${agentWord}`)
      .option('--task-id <task>', 'the agent working on this task')
      .option('--phase-id <phase>', 'an agent working on this phase')
      .option('--person', 'the person')
      .addOption(new Option('--timeout <time>', 'maximum wait, e.g. 30s or 5m').argParser(waitTime))
      .action((question, options) =>
        act(options, async (context) => (await import('../command/mail/ask.ts')).ask(context, question, options)),
      ),
  listen: ({ add, act }) =>
    add('wait for a question and print it as JSON', 'pawl listen --agent-id brave-otter')
      .option('--agent-id <agent>', `who listens: ${agentWord} (default: yourself)`)
      .addOption(new Option('--timeout <time>', 'maximum wait, e.g. 30s or 5m').argParser(waitTime))
      .action((options) =>
        act(options, async (context) => (await import('../command/mail/listen.ts')).listen(context, options)),
      ),
  answer: ({ add, act }) =>
    add('answer a question from an agent', 'pawl answer "port 8080" --conversation-id 4fGhXq')
      .argument('<answer>', 'the answer, in quotes')
      .requiredOption('--conversation-id <id>', 'the question’s id, or the start of it')
      .action((text, options) =>
        act(options, async (context) => (await import('../command/mail/answer.ts')).answer(context, text, options)),
      ),
  inbox: ({ add, act }) =>
    add('show what needs you, with the commands to act on it', 'pawl inbox')
      .argument('[id]', `show only this entry in full: its id, or the agent that asked (${agentWord})`)
      .action((id, options) =>
        act(options, async (context) => (await import('../command/mail/inbox.ts')).inbox(context, id)),
      ),
};
