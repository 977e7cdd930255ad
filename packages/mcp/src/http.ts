import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Cancellations } from './cancellation.ts';
import { cancelledBy, createCancellations } from './cancellation.ts';
import { mcpLimits } from './mcp-limit.ts';
import type { Desk } from './server.ts';
import { createMcpServer } from './server.ts';

/** Answers the protocol over HTTP. Nothing is kept from one request to the next but which calls are being answered. */
export type HttpDoor = {
  /** Answers one request for the caller of this name, whose desk it is. */
  answer(caller: string, desk: Desk, request: Request): Promise<Response>;
};

/** The protocol's door of one daemon. */
export function createHttpDoor(tell: (error: Error) => void): HttpDoor {
  const cancellations: Cancellations = createCancellations();
  return {
    async answer(caller, desk, request) {
      const cancelled = await cancelledBy(request);
      if (cancelled !== null) cancellations.cancel(caller, cancelled);
      const begin = (requestId: string | number) => cancellations.begin(caller, requestId);
      const handler = createMcpHandler(() => createMcpServer({ ...desk, begin }), {
        onerror: tell,
        maxRequestBodySize: mcpLimits.messageBytes,
        // No list of ours changes while somebody listens.
        maxSubscriptions: 0,
      });
      return handler.fetch(request);
    },
  };
}
