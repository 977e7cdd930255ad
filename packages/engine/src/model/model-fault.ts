import { engineLimits } from '../limit.ts';

/**
 * Why a model did not answer. `too-long`: the conversation does not fit. `refused`: the request is wrong and stays
 * wrong.
 */
export type FaultKind = 'limit' | 'auth' | 'transient' | 'too-long' | 'refused';

/** A failed call of a model. `message` has the words that people and Pawl's fault patterns know. */
export class ModelFault extends Error {
  override readonly name = 'ModelFault';
  readonly kind: FaultKind;
  readonly status: number | null;
  /** How long the server asks to wait. */
  readonly retryAfterMs: number | null;

  constructor(kind: FaultKind, message: string, facts: { status?: number | null; retryAfterMs?: number | null } = {}) {
    super(message);
    this.kind = kind;
    this.status = facts.status ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** The fields of the AI SDK's `APICallError` that matter. Read by name: each vendor's bundle has its own class. */
type CallError = {
  message?: unknown;
  statusCode?: unknown;
  responseHeaders?: Record<string, string | undefined>;
  responseBody?: unknown;
  cause?: unknown;
};

const tooLong =
  /context.{0,3}(?:window|length)|prompt is too long|too many tokens|token count.{0,40}exceed|input is too long/i;
const usedUp =
  /usage.limit|hit your .{0,40}limit|quota|credit balance|insufficient.(?:credit|fund|balance)|out of credits|spend(?:ing)? limit|billing_error/i;

const badKey =
  /api.?key (?:is )?(?:not valid|invalid|expired)|(?:invalid|incorrect|missing) (?:x-)?api.?key|api_key_invalid/i;

/** Classifies the error of a call, by status first, then by words. */
export function faultOf(error: unknown): ModelFault {
  if (error instanceof ModelFault) return error;
  const call = (error !== null && typeof error === 'object' ? error : { message: String(error) }) as CallError;
  const status = typeof call.statusCode === 'number' ? call.statusCode : null;
  const body = typeof call.responseBody === 'string' ? call.responseBody : '';
  const words = wordsOf(call).slice(0, engineLimits.errorCharacters);
  const retryAfterMs = retryAfter(call.responseHeaders ?? {}, body);
  const facts = { status: status === 200 ? null : status, retryAfterMs };
  const say = (text: string) =>
    status === null || status === 200 ? `API Error: ${text}` : `API Error: ${status} ${text}`;
  if (status === null || status < 400) return new ModelFault('transient', say(`connection error: ${words}`), facts);
  const told = `${words}\n${body}`;
  if (status === 402 || (status < 500 && status !== 401 && usedUp.test(told))) {
    return new ModelFault('limit', say(words), facts);
  }
  if (status === 401 || status === 403 || (status === 400 && badKey.test(told)))
    return new ModelFault('auth', say(`failed to authenticate: ${words}`), facts);
  if (status === 429) return new ModelFault(waitsLong(retryAfterMs) ? 'limit' : 'transient', say(words), facts);
  if (status === 408 || status === 409 || status >= 500) return new ModelFault('transient', say(words), facts);
  if (status === 413 || tooLong.test(told))
    return new ModelFault('too-long', say(`prompt is too long: ${words}`), facts);
  return new ModelFault('refused', say(words), facts);
}

function waitsLong(retryAfterMs: number | null): boolean {
  return retryAfterMs !== null && retryAfterMs > engineLimits.longestWaitMs;
}

function wordsOf({ message, cause }: CallError): string {
  const own = typeof message === 'string' ? message : 'no reason given';
  const below = cause instanceof Error && cause.message !== own ? `: ${cause.message}` : '';
  return `${own}${below}`;
}

/** How long the server asks to wait: by header, or in the body, as Gemini and OpenAI's Responses do. */
function retryAfter(headers: Record<string, string | undefined>, body: string): number | null {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  const seconds = Number(headers['retry-after'] ?? Number.NaN);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1_000;
  const told = /"retryDelay":\s*"(\d{1,9}(?:\.\d{1,9})?)s"|(?:try again|retry) in (\d{1,9}(?:\.\d{1,9})?) ?s/i.exec(
    body,
  );
  const found = told?.[1] ?? told?.[2];
  return found === undefined ? null : Math.ceil(Number(found) * 1_000);
}
