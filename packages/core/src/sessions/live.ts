import type { LiveState } from '@pawl/schema/status';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { firstLine } from '../shorten.ts';

const detailCharacters = 120;
/** The activity while a text comes in pieces: a piece alone may be half a word, or half a secret. */
const writing = 'writing';

/**
 * Derives an agent's current activity from its latest output, whatever its provider. `before` is the activity until
 * then. Null if the event says nothing about it.
 */
export function liveState(event: StreamEvent, before?: LiveState): LiveState | null {
  switch (event.type) {
    case 'thinking':
      return { live: 'thinking', detail: firstLine(event.text, detailCharacters) };
    case 'tool-call':
      return {
        live: 'calling_tool',
        detail: firstLine(`${event.name} ${event.input}`, detailCharacters),
        tool: firstLine(event.name, detailCharacters),
      };
    case 'text':
      return { live: 'working', detail: event.piece === true ? writing : firstLine(event.text, detailCharacters) };
    case 'text-delta':
      return { live: 'working', detail: writing };
    case 'tool-result':
      return { live: 'working', detail: 'read a tool result' };
    case 'approval-request':
      return {
        live: 'calling_tool',
        detail: firstLine(`asks to use ${event.tool}: ${event.title}`, detailCharacters),
        tool: firstLine(event.tool, detailCharacters),
      };
    case 'echo':
      // Input after the end of a turn starts another one.
      return before?.live === 'idle' ? { live: 'model_loading', detail: 'waiting for the model' } : null;
    case 'summary':
      return { live: 'working', detail: 'summarised the conversation' };
    case 'retry':
      return { live: 'working', detail: firstLine(event.text, detailCharacters) };
    case 'limit':
      return { live: 'idle', detail: 'usage limit reached' };
    case 'result':
      return { live: 'idle', detail: 'turn ended' };
    default:
      return null;
  }
}
