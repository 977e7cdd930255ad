import { PawlError } from '@pawl/schema/error';
import type { Context } from 'hono';
import { projectRequired } from '../changes/change-scope.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import type { OpenStream } from '../platform/http/stream-slots.ts';
import { eventStream } from '../platform/http/sse.ts';
import { openRuntimeReader } from '../runtime/runtime-stream.ts';
import type { StreamParts } from './stream-routes.ts';

type RuntimeQuery = {
  agentId: string | undefined;
  project_root?: string | undefined;
  session_id?: string | undefined;
  /** The last number that the client has. */
  known: number | undefined;
};

/** Streams the events of the runtime contract. */
export async function runtimeStream(
  context: Context<DoorVariables>,
  parts: StreamParts,
  query: RuntimeQuery,
  openStream: OpenStream,
): Promise<Response> {
  const accept = context.req.header('accept') ?? '*/*';
  if (accept.includes('application/json') && !accept.includes('text/event-stream'))
    throw new PawlError('invalid_input', 'The runtime view is a stream.', { hint: 'Accept text/event-stream.' });
  const { agentId, project_root: root, session_id: sessionId, known } = query;
  const project = root === undefined ? null : await projectRequired(parts.platform, { is: 'person' }, { path: root });
  const { reader, gap } = openRuntimeReader(
    { platform: parts.platform, events: parts.feeds.events, live: parts.runtime.feed },
    { agentId, projectId: project?.id, sessionId },
    known,
  );
  let told = gap === null;
  return eventStream(
    context.req.raw.signal,
    async (signal) => {
      if (!told) {
        told = true;
        return [{ id: gap ?? 0, event: 'gap', data: { lastSeq: gap } }];
      }
      return (await reader.next(signal)).map((event) => ({ id: event.seq, data: event }));
    },
    openStream(),
  );
}
