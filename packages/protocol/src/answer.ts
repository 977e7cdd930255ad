import type { ErrorCode } from '@pawl/schema/error';
import { errorCodes, PawlError } from '@pawl/schema/error';
import type { StreamMessage } from './event-stream.ts';
import { readEventStream } from './event-stream.ts';
import type { Answer, Transport, TransportRequest } from './transport.ts';

/** Parses a JSON answer; throws a reported failure as the original PawlError. */
export async function readJson<T>(answer: Answer): Promise<T> {
  let text = '';
  for await (const part of decoded(answer)) text += part;
  const { status } = answer;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new PawlError('internal', `The daemon answered ${status} with something that is not JSON.`, { cause });
  }
  if (status >= 400) throw errorOf(value, status);
  return value as T;
}

/** Reads a server-sent event stream until it ends or the signal aborts, which is a normal end. */
export async function* readMessages(
  transport: Transport,
  path: string,
  headers: Record<string, string>,
  { signal, token }: Pick<TransportRequest, 'signal' | 'token'>,
): AsyncGenerator<StreamMessage> {
  let answer: Answer | undefined;
  try {
    const accept = { accept: 'text/event-stream', ...headers };
    answer = await transport({ method: 'GET', path, headers: accept, body: null, signal, token });
    if (answer.status >= 400) await readJson(answer);
    yield* readEventStream(decoded(answer));
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    answer?.cancel();
  }
}

async function* decoded(answer: Answer): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  for await (const part of answer) yield decoder.decode(part, { stream: true });
  yield decoder.decode();
}

/** Parses the failure in an answer. Unknown codes of a newer daemon become `internal`. */
function errorOf(body: unknown, status: number): PawlError {
  const { code, message, hint, details } = recordOf(recordOf(body)['error']);
  return new PawlError(
    isErrorCode(code) ? code : 'internal',
    typeof message === 'string' ? message : `The daemon answered ${status}.`,
    { ...(typeof hint === 'string' ? { hint } : {}), details: recordOf(details) },
  );
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorCodes, code);
}

function recordOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
}
