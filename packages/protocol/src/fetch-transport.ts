import type { Answer, Transport } from './transport.ts';
import { silent, unreachable, usualSilenceMs } from './transport.ts';

type FetchOptions = {
  /** The daemon's address, such as `http://127.0.0.1:4000`; in a page of the daemon, `location.origin`. */
  url: string;
  token?: string;
  /** Sent with every request: the page's key. */
  headers?(): Record<string, string>;
  /** Replaces the global `fetch`; the daemon uses this to call itself. */
  fetch?(request: Request): Response | Promise<Response>;
};

/** Sends requests with `fetch`. Uses only what browsers have. */
export function fetchTransport({
  url,
  token: own,
  headers: always = () => ({}),
  fetch: send = fetch,
}: FetchOptions): Transport {
  return async ({ method, path, headers, body, silenceMs = usualSilenceMs, signal, token = own }) => {
    const silence = watchSilence(silenceMs);
    const request = new Request(new URL(path, url), {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...always(),
        ...headers,
      },
      ...(body === null ? {} : { body }),
      signal: signal === undefined ? silence.signal : AbortSignal.any([signal, silence.signal]),
    });
    try {
      return answerOf(await send(request), silence);
    } catch (error) {
      silence.end();
      throw networkError(error);
    }
  };
}

type Silence = { signal: AbortSignal; heard(): void; end(): void };

/** Aborts its signal after a long silence. */
function watchSilence(silenceMs: number): Silence {
  const controller = new AbortController();
  const watch = () => setTimeout(() => controller.abort(silent(silenceMs)), silenceMs);
  let timer = watch();
  return {
    signal: controller.signal,
    heard() {
      clearTimeout(timer);
      timer = watch();
    },
    end: () => clearTimeout(timer),
  };
}

function answerOf({ status, body }: Response, silence: Silence): Answer {
  const reader = body?.getReader();
  return {
    status,
    cancel() {
      silence.end();
      reader?.cancel().catch(() => undefined);
    },
    async *[Symbol.asyncIterator]() {
      try {
        for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
          silence.heard();
          yield part.value;
        }
      } catch (error) {
        throw networkError(error);
      } finally {
        silence.end();
      }
    },
  };
}

/** `fetch` reports every failure of the network as a TypeError, and an abort with the signal's reason. */
function networkError(error: unknown): unknown {
  return error instanceof TypeError ? unreachable(error) : error;
}
