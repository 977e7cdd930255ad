import { messageKindTone, messageText, messageTone } from '@pawl/present/agents/message';
import { clockTime, count } from '@pawl/present/amount';
import { fit, printableLine } from '@pawl/present/text';
import type { HistoryPage } from '@pawl/protocol/agents/history/view';
import type { CommandContext } from '../../context.ts';
import { agentOrCurrent } from '../../agent/current-agent.ts';
import { withDaemon } from '../../daemon/launch.ts';
import type { Palette } from '../../terminal/palette.ts';
import { painter } from '../../terminal/palette.ts';

type HistoryMessage = HistoryPage['messages'][number];
export type HistoryOptions = { full?: boolean; own?: boolean; all?: boolean };

const pageMessages = 500;
/** Lines of one message shown without --full. */
const shownLines = 12;
const kindColumns = 12;
/** The column of the text, after time and kind. */
const margin = 8 + 1 + kindColumns + 1;
/** The minimum text width on a narrow screen. */
const leastColumns = 20;

/** Shows an agent's history, oldest first: inherited messages, then its own. */
export async function history(
  context: CommandContext,
  given: string | undefined,
  options: HistoryOptions,
): Promise<number> {
  const reference = await agentOrCurrent(context.home, given);
  let after: number | undefined;
  for (;;) {
    const query = { limit: pageMessages, ...(after !== undefined && { after }), ...(options.all && { all: true }) };
    const page = await withDaemon(context.home, (client) => client.history(reference, query));
    if (after === undefined) showHead(context, page, options);
    for (const message of page.messages) {
      after = message.id;
      if (options.own && message.inherited) continue;
      context.record('message', message, () =>
        describeMessage(message, { full: options.full ?? false, columns: context.columns, colours: context.colours }),
      );
    }
    if (!page.more || page.messages.length === 0) return 0;
  }
}

/** Names the agent, its assignment, and the number of inherited messages. */
function showHead(context: CommandContext, page: HistoryPage, options: HistoryOptions): void {
  const { messages: _messages, more: _more, ...head } = page;
  const { alias, assignment, inherited, own } = head;
  const { bold, dim } = context.colours;
  context.record('history', head, () => {
    const task = assignment === null ? '' : `: ${printableLine(assignment.trim().split('\n', 1)[0] ?? '')}`;
    const lines = [bold(alias) + task];
    // Cleared messages are not counted; --all shows them.
    if (inherited + own + page.messages.length === 0) lines.push(dim('no messages yet'));
    if (inherited > 0) lines.push(dim(`inherited: ${count(inherited, 'message')}${options.own ? ' (not shown)' : ''}`));
    return lines.join('\n');
  });
}

/** Renders a message: time, kind, text. Inherited ones are dimmed, long ones cut. */
export function describeMessage(
  message: HistoryMessage,
  { full, columns, colours }: { full: boolean; columns: number; colours: Palette },
): string {
  const paint = painter(messageTone(message), colours);
  const lines = messageText(message).trimEnd().split('\n');
  const room = Math.max(leastColumns, columns - margin);
  const shown = full ? lines : lines.slice(0, shownLines).map((line) => fit(line, room));
  if (shown.length < lines.length) shown.push(`… ${count(lines.length - shown.length, 'more line')}; --full shows all`);
  const head = `${clockTime(message.createdAt)} ${message.kind.padEnd(kindColumns)} `;
  const [text = '', ...rest] = shown;
  const first = message.forgotten ? `[${message.forgotten}] ${text}` : text;
  const kind = painter(messageKindTone(message), colours);
  return [kind(head) + paint(first), ...rest.map((line) => ' '.repeat(margin) + paint(line))].join('\n');
}
