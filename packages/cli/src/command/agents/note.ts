import { printableLine } from '@pawl/present/text';
import { agentAndText, meantAgent } from '../../agent/current-agent.ts';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';

type Verb = 'clear' | 'mark' | 'rewind';

/** Adds a note to an agent's history: clear, mark or rewind. */
export async function note(context: CommandContext, verb: Verb, words: readonly string[]): Promise<number> {
  const { reference: given, text: label } = agentAndText(words);
  const { reference, name: agent } = await meantAgent(context.home, given);
  const body = label === undefined ? {} : { label };
  const { messageId } = await withDaemon(context.home, (client) => client.note(reference, verb, body));
  const name = label === undefined ? '' : ` ${JSON.stringify(printableLine(label))}`;
  context.answer('note', { verb, messageId, ...body }, () => {
    const said = {
      clear: 'forgets everything up to here; it stays on record: pawl history --all',
      mark: `set a mark${name}`,
      rewind: `back at the ${label === undefined ? 'last ' : ''}mark${name}; what came after it stays on record`,
    };
    return `${context.colours.bold(printableLine(agent))}: ${said[verb]} (message ${messageId})`;
  });
  return 0;
}
