import { PawlError } from '@pawl/schema/error';

/** A daemon that is silent for this long, without even a keep-alive, does not answer. */
export const usualSilenceMs = 60_000;

/** One request. */
export type TransportRequest = {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | null;
  /** The timeout for silence; longer for requests that wait for agents. */
  silenceMs?: number;
  signal?: AbortSignal | undefined;
  /** The token; by default the transport's own. */
  token?: string | undefined;
};

/** An answer: its status, its body in pieces, and a way to cancel the rest. */
export type Answer = AsyncIterable<Uint8Array> & { status: number; cancel(): void };

/**
 * Sends a request and returns its answer once the head has arrived. Reports a daemon that cannot be reached as
 * `daemon_unreachable`, and a silent one as `timeout`.
 */
export type Transport = (request: TransportRequest) => Promise<Answer>;

export function silent(silenceMs: number): PawlError {
  return new PawlError('timeout', `The daemon has said nothing for ${silenceMs / 1000} s.`, {
    hint: 'It may be stopped (SIGSTOP) or stuck: look at its state with `ps`, end it, and run `pawl up` again.',
  });
}

export function unreachable(cause: Error, details: Record<string, string> = {}): PawlError {
  return new PawlError('daemon_unreachable', 'The daemon does not answer.', {
    hint: 'Start it with `pawl up`; `pawl doctor` looks for the cause.',
    details,
    cause,
  });
}
