import type { Message } from '@pawl/schema/record';
import { conversationKinds } from '@pawl/schema/record';
import { PawlError } from '@pawl/schema/error';

/** Applies the rewinds of a replayed history: each drops everything after its mark. Dropped messages stay on record. */
export function remembered(history: readonly Message[]): Message[] {
  const kept: Message[] = [];
  for (const message of history) {
    const to = message.kind === 'rewind' ? message.data?.['to'] : null;
    if (typeof to === 'number') while ((kept.at(-1)?.id ?? 0) > to) kept.pop();
    kept.push(message);
  }
  return kept;
}

/**
 * The part of a replayed history that the model sees: from the last summary on. Skips a tool call without a result,
 * which a rewind may leave.
 */
export function conversationOf(history: readonly Message[]): Message[] {
  const kinds: readonly string[] = conversationKinds;
  const said = remembered(history);
  const kept = said.slice(summaryStart(said)).filter((message) => kinds.includes(message.kind));
  const idsOf = (kind: Message['kind']) => new Set(kept.filter((message) => message.kind === kind).map(toolIdOf));
  const [called, answered] = [idsOf('tool_call'), idsOf('tool_result')];
  return kept.filter((message) => {
    if (message.kind === 'tool_call') return answered.has(toolIdOf(message));
    return message.kind !== 'tool_result' || called.has(toolIdOf(message));
  });
}

/** The place of the last summary, which stands for everything before it; 0 without one. */
export function summaryStart(messages: readonly Message[]): number {
  return Math.max(
    0,
    messages.findLastIndex(({ kind }) => kind === 'summary'),
  );
}

/** Finds the mark to rewind to: the latest remembered one, with this label if given. */
export function findMark(history: readonly Message[], label: string | null): Message {
  const mark = remembered(history).findLast(
    (message) => message.kind === 'mark' && (label === null || message.content === label),
  );
  if (mark !== undefined) return mark;
  throw new PawlError(
    'not_found',
    label === null ? 'There is no mark to rewind to.' : `There is no mark ${JSON.stringify(label)}.`,
    {
      hint: 'Set one with `pawl mark`; a clear or an earlier rewind removes marks.',
    },
  );
}

/**
 * Finds running tools by call id, and the first message since which at least one runs. `tools` are the tool calls and
 * results of the open turn, oldest first. A fork never separates a call from its result, so it goes before that
 * message.
 */
export function openToolsIn(tools: readonly Pick<Message, 'id' | 'kind' | 'data'>[]): {
  open: Map<string, string>;
  since: number | null;
} {
  const open = new Map<string, string>();
  let since: number | null = null;
  for (const message of tools) {
    const id = toolIdOf(message);
    if (message.kind === 'tool_call') {
      if (open.size === 0) since = message.id;
      open.set(id, toolNameOf(message));
    } else open.delete(id);
    if (open.size === 0) since = null;
  }
  return { open, since };
}

/** The id that links a tool's result to its call. */
export function toolIdOf(message: Pick<Message, 'data'>): string {
  const id = message.data?.['toolId'];
  return typeof id === 'string' ? id : '';
}

function toolNameOf(message: Pick<Message, 'data'>): string {
  const name = message.data?.['name'];
  return typeof name === 'string' ? name : 'a tool';
}
