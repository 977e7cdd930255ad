import { cutText } from '@pawl/core/shorten';
import { limits } from '@pawl/schema/limit';
import type { StreamEvent } from '@pawl/schema/stream-event';
import type { SaidMessage } from './batch.ts';

/** Converts an event into a message of the history; null if it is not part of it. */
export function saidMessage(event: StreamEvent): SaidMessage | null {
  switch (event.type) {
    case 'text': {
      const data = { ...(event.piece === true ? { piece: true } : {}), ...answerOf(event) };
      return {
        kind: 'assistant',
        content: kept(event.text),
        data: Object.keys(data).length === 0 ? null : data,
        body: event.body,
      };
    }
    case 'tool-call':
      return {
        kind: 'tool_call',
        content: kept(`${event.name} ${event.input}`),
        data: { toolId: event.id, name: event.name, ...answerOf(event) },
        body: event.body,
      };
    case 'tool-result':
      return {
        kind: 'tool_result',
        content: kept(event.text),
        data: { toolId: event.id, isError: event.isError },
        body: event.body,
      };
    case 'summary':
      return { kind: 'summary', content: kept(event.text), data: null };
    default:
      return null;
  }
}

function answerOf({ answer }: { answer?: string | undefined }): { answer?: string } {
  return answer === undefined ? {} : { answer };
}

/** True if two consecutive messages are pieces of one text. */
export function isPieceOf(said: SaidMessage, last: SaidMessage): boolean {
  return [said, last].every(({ kind, data }) => kind === 'assistant' && data?.['piece'] === true);
}

/** A text cut to what the history holds. */
export function kept(text: string): string {
  return cutText(text, limits.messageCharacters);
}
