import type { StreamEvent } from '@pawl/schema/stream-event';

/** One short line for an event, so that what a sample means can be read and compared at a glance. */
export function renderEvent(event: StreamEvent): string {
  switch (event.type) {
    case 'session':
      return `session ${event.providerSessionId}`;
    case 'tool-call':
      return `tool-call ${event.id} ${event.name}: ${JSON.stringify(event.input)}`;
    case 'tool-result':
      return `tool-result ${event.id}${event.isError ? ' (error)' : ''}: ${JSON.stringify(event.text)}`;
    case 'usage': {
      const { type: _type, scope, ...numbers } = event;
      const told = Object.entries(numbers).filter(([, number]) => number !== null);
      return `usage ${scope} ${told.map(([name, number]) => `${name}=${number}`).join(' ')}`;
    }
    case 'text':
      return `${event.piece === true ? 'piece' : 'text'} ${JSON.stringify(event.text)}`;
    case 'echo':
      return `echo ${JSON.stringify(event.text)}${event.uuid === undefined ? '' : ` ${event.uuid}`}`;
    case 'limit':
      return `limit until ${event.until}`;
    case 'result':
      return `result ${event.ok ? 'ok' : `failed (${event.fault})`}: ${JSON.stringify(event.text)}`;
    case 'approval-request':
      return `approval-request ${event.nativeId} ${event.kind} ${event.tool} ${JSON.stringify(event.title)}`;
    case 'approval-cancel':
      return `approval-cancel ${event.nativeId}`;
    case 'context-usage':
      return `context-usage ${event.usage.estimated_tokens}`;
    default:
      return `${event.type} ${JSON.stringify(event.text)}`;
  }
}
