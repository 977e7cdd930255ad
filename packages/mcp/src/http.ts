import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Cancellations } from './cancellation.ts';
import { cancelledBy, createCancellations } from './cancellation.ts';
import { mcpLimits } from './mcp-limit.ts';
import type { CallerAccess } from './server.ts';
import { createMcpServer } from './server.ts';

/** Serves MCP over HTTP. Keeps nothing between requests except running calls. */
export type HttpDoor = {
  /** Handles one request of this caller. */
  answer(caller: string, access: CallerAccess, request: Request): Promise<Response>;
};

export function createHttpDoor(tell: (error: Error) => void): HttpDoor {
  const cancellations: Cancellations = createCancellations();
  return {
    async answer(caller, access, request) {
      const cancelled = await cancelledBy(request);
      if (cancelled !== null) cancellations.cancel(caller, cancelled);
      const begin = (requestId: string | number) => cancellations.begin(caller, requestId);
      const handler = createMcpHandler(() => createMcpServer({ ...access, begin }), {
        onerror: tell,
        maxRequestBodySize: mcpLimits.messageBytes,
        // Our lists never change.
        maxSubscriptions: 0,
      });
      return handler.fetch(request);
    },
  };
}
