export type SseMessage = { id?: number; event?: string; data: unknown };

/** Waits for the next messages; an empty list is a heartbeat, null ends the stream. */
export type NextMessages = (signal: AbortSignal) => Promise<SseMessage[] | null>;

/**
 * A server-sent event stream with backpressure: fetches messages only when the client has read the last ones, so a
 * client that never reads costs one batch of memory. Resumes by id.
 */
export function eventStream(requestSignal: AbortSignal, next: NextMessages, onClose: () => void): Response {
  const closing = new AbortController();
  const signal = AbortSignal.any([requestSignal, closing.signal]);
  const encoder = new TextEncoder();
  let closed = false;
  const close = () => {
    if (closed) return;
    closed = true;
    closing.abort();
    onClose();
  };
  // A signal that is aborted already fires no event.
  if (requestSignal.aborted) close();
  else requestSignal.addEventListener('abort', close, { once: true });
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        controller.enqueue(encoder.encode(': pawl\n\n'));
      },
      async pull(controller) {
        try {
          const messages = await next(signal);
          if (messages === null) {
            controller.close();
            close();
          } else
            controller.enqueue(
              encoder.encode(messages.length === 0 ? ': still here\n\n' : messages.map(format).join('')),
            );
        } catch (error) {
          close();
          if (signal.aborted) controller.close();
          else controller.error(error);
        }
      },
      cancel: close,
    },
    { highWaterMark: 1 },
  );
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
  });
}

function format({ id, event, data }: SseMessage): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`;
  return `${head}data: ${JSON.stringify(data)}\n\n`;
}
