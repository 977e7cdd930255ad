import { Option } from 'commander';
import { waitTime } from '../wait-time.ts';
import type { CommandTable } from './tools.ts';
import { agentWord } from './tools.ts';

/** The commands by which agents ask each other, and the person. */
export const questionCommands: CommandTable = {
  ask: ({ add, act }) =>
    add('ask an agent or the person, wait, and print the answer', 'pawl ask "which port?" --agent-id brave-otter')
      .argument('<question>', 'what to ask, in quotes')
      .option('--from <agent>', 'who asks; yourself when absent')
      .option('--agent-id <agent>', `whom to ask: ${agentWord}`)
      .option('--task-id <task>', 'whoever works on this task')
      .option('--phase-id <phase>', 'somebody who works on this phase')
      .option('--person', 'the person')
      .addOption(new Option('--timeout <time>', 'how long to wait, such as 30s or 5m').argParser(waitTime))
      .action((question, options) =>
        act(options, async (context) => (await import('../command/ask.ts')).ask(context, question, options)),
      ),
  listen: ({ add, act }) =>
    add('wait for one question to an agent and print it as JSON', 'pawl listen --agent-id brave-otter')
      .option('--agent-id <agent>', `who listens: ${agentWord}; yourself when absent`)
      .addOption(new Option('--timeout <time>', 'how long to wait, such as 30s or 5m').argParser(waitTime))
      .action((options) =>
        act(options, async (context) => (await import('../command/listen.ts')).listen(context, options)),
      ),
  answer: ({ add, act }) =>
    add('answer a question that you were asked', 'pawl answer "port 8080" --conversation-id 4fGhXq')
      .argument('<answer>', 'the answer, in quotes')
      .requiredOption('--conversation-id <id>', 'which question: its id or the start of it')
      .action((text, options) =>
        act(options, async (context) => (await import('../command/answer.ts')).answer(context, text, options)),
      ),
  inbox: ({ add, act }) =>
    add('show everything that waits for you, with the commands that move it on', 'pawl inbox')
      .argument('[id]', `only this, and all of it: its id, or the agent that asked (${agentWord})`)
      .action((id, options) =>
        act(options, async (context) => (await import('../command/inbox.ts')).inbox(context, id)),
      ),
};
