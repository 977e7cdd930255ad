import { cutText } from '@pawl/core/shorten';
import { limits } from '@pawl/schema/limit';
import type { StreamEvent } from '@pawl/schema/stream-event';
import type { SaidMessage } from './batch.ts';

/** Turns an event into a message of the history; null when it is no part of it. */
export function saidMessage(event: StreamEvent): SaidMessage | null {
  switch (event.type) {
    case 'text':
      return { kind: 'assistant', content: kept(event.text), data: event.piece === true ? { piece: true } : null };
    case 'tool-call':
      return {
        kind: 'tool_call',
        content: kept(`${event.name} ${event.input}`),
        data: { toolId: event.id, name: event.name },
      };
    case 'tool-result':
      return { kind: 'tool_result', content: kept(event.text), data: { toolId: event.id, isError: event.isError } };
    default:
      return null;
  }
}

/** Whether something that was said goes on with what was said last: both are pieces of one text. */
export function isPieceOf(said: SaidMessage, last: SaidMessage): boolean {
  return [said, last].every(({ kind, data }) => kind === 'assistant' && data?.['piece'] === true);
}

/** As much of a text as the history has room for. */
export function kept(text: string): string {
  return cutText(text, limits.messageCharacters);
}
