import type { Command } from 'commander';
import type { CommandTable, Tools } from './tools.ts';
import { agentWord } from './tools.ts';

const summary = 'report an agent’s work as complete and clean up after it';
const words = '--summary "the parser takes comments now"';

export const completeCommands: CommandTable = {
  complete: ({ add, act }) => withWords(add(summary, `pawl complete ${words}`), act),
};

/** The same under its long name, `pawl agent complete`. */
export function addLongComplete({ addTo, act }: Pick<Tools, 'addTo' | 'act'>, group: Command): void {
  withWords(addTo(group, 'complete', `${summary}; the same as pawl complete`, `pawl agent complete ${words}`), act);
}

function withWords(command: Command, act: Tools['act']): void {
  command
    .argument('[agent]', `${agentWord} (default: the calling agent)`)
    .option('--summary <text>', 'result (- reads stdin)')
    .option('--failure <reason>', 'why it failed')
    .action((agent, options) =>
      act(options, async (context) =>
        (await import('../command/agents/complete.ts')).complete(context, agent, options),
      ),
    );
}
