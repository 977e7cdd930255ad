import type { ServerContext } from '@modelcontextprotocol/server';
import { mcpLimits } from './mcp-limit.ts';

/** Sends progress notifications to a client that asked for them; returns a function that stops it. */
export function keepTelling({ mcpReq }: ServerContext): () => void {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return () => {};
  let told = 0;
  const timer = setInterval(() => {
    told += 1;
    const params = { progressToken: token, progress: told, message: 'still waiting' };
    // The client may have left.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  }, mcpLimits.progressMs);
  timer.unref();
  return () => clearInterval(timer);
}
