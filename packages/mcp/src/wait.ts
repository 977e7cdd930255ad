import { PawlError } from '@pawl/schema/error';
import { mcpLimits } from './mcp-limit.ts';
import type { Call } from './tool.ts';

/**
 * The first message of a stream, or null when the call's time is over. A stream that ends without either has lost its
 * daemon: then the call is retried with the remaining time.
 */
export async function firstWithin<T>(
  { beganAt, signal }: Pick<Call, 'beganAt' | 'signal'>,
  seconds: number | undefined,
  open: (signal: AbortSignal) => AsyncGenerator<T>,
): Promise<T | null> {
  const leftMs = beganAt + (seconds ?? mcpLimits.waitSeconds) * 1_000 - performance.now();
  const timeUp = AbortSignal.timeout(Math.max(1, Math.ceil(leftMs)));
  for await (const message of open(AbortSignal.any([signal, timeUp]))) return message;
  if (timeUp.aborted) return null;
  throw new PawlError('daemon_unreachable', signal.aborted ? 'The call was cancelled.' : 'The daemon has left.');
}
