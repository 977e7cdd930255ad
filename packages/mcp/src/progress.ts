import type { ServerContext } from '@modelcontextprotocol/server';
import { mcpLimits } from './mcp-limit.ts';

/** Tells a client that asked for it, now and then, that a call still waits; returns what ends that. */
export function keepTelling({ mcpReq }: ServerContext): () => void {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return () => {};
  let told = 0;
  const timer = setInterval(() => {
    told += 1;
    const params = { progressToken: token, progress: told, message: 'still waiting' };
    // A client that has left need not be told.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
  }, mcpLimits.progressMs);
  timer.unref();
  return () => clearInterval(timer);
}
