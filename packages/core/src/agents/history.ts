import type { Message } from '@pawl/schema/record';
import { conversationKinds } from '@pawl/schema/record';
import { PawlError } from '@pawl/schema/error';

/**
 * What is left of a replayed history after its rewinds: each takes away everything after the mark that it goes back to.
 * What was taken away stays on record; it is only not remembered.
 */
export function remembered(history: readonly Message[]): Message[] {
  const kept: Message[] = [];
  for (const message of history) {
    const to = message.kind === 'rewind' ? message.data?.['to'] : null;
    if (typeof to === 'number') while ((kept.at(-1)?.id ?? 0) > to) kept.pop();
    kept.push(message);
  }
  return kept;
}

/** What of a replayed history a model is told. A call without its result, as a rewind may leave one, is not part of it. */
export function conversationOf(history: readonly Message[]): Message[] {
  const kinds: readonly string[] = conversationKinds;
  const kept = remembered(history).filter((message) => kinds.includes(message.kind));
  const idsOf = (kind: Message['kind']) => new Set(kept.filter((message) => message.kind === kind).map(toolIdOf));
  const [called, answered] = [idsOf('tool_call'), idsOf('tool_result')];
  return kept.filter((message) => {
    if (message.kind === 'tool_call') return answered.has(toolIdOf(message));
    return message.kind !== 'tool_result' || called.has(toolIdOf(message));
  });
}

/** The mark that a person means: the latest that is remembered, with this label if they gave one. */
export function findMark(history: readonly Message[], label: string | null): Message {
  const mark = remembered(history).findLast(
    (message) => message.kind === 'mark' && (label === null || message.content === label),
  );
  if (mark !== undefined) return mark;
  throw new PawlError(
    'not_found',
    label === null ? 'There is no mark to go back to.' : `There is no mark ${JSON.stringify(label)}.`,
    {
      hint: 'Set one with `pawl mark`; a clear or an earlier rewind takes marks away.',
    },
  );
}

/**
 * The tools that run, by call id, and the first message since which at least one does; `tools` are the tool calls and
 * results of the turn that is open, oldest first. A fork never comes between a call and its result, so it comes before
 * that message.
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

/** The id that ties a tool's result to its call. */
export function toolIdOf(message: Pick<Message, 'data'>): string {
  const id = message.data?.['toolId'];
  return typeof id === 'string' ? id : '';
}

function toolNameOf(message: Pick<Message, 'data'>): string {
  const name = message.data?.['name'];
  return typeof name === 'string' ? name : 'a tool';
}
