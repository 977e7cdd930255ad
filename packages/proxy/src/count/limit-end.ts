import type { IncomingHttpHeaders } from 'node:http';
import * as z from 'zod';

/** Statuses with which providers refuse calls for a limit or an overload. */
export const limitStatuses: readonly number[] = [429, 529];

/** Headers with a time in seconds since 1970, or as a date. */
const timeHeaders = [
  'anthropic-ratelimit-unified-reset',
  'x-codex-primary-reset-at',
  'anthropic-ratelimit-requests-reset',
  'anthropic-ratelimit-tokens-reset',
  'anthropic-ratelimit-input-tokens-reset',
  'anthropic-ratelimit-output-tokens-reset',
];
/** Headers with a duration, such as `20`, `1s`, `6m0s` or `750ms`. */
const durationHeaders = ['x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens'];

const errorSchema = z.object({
  error: z.object({
    resets_at: z.number().positive().optional().catch(undefined),
    resets_in_seconds: z.number().nonnegative().optional().catch(undefined),
    details: z
      .array(z.object({ retryDelay: z.string().optional().catch(undefined) }))
      .optional()
      .catch(undefined),
  }),
});

/** A longer wait is taken for nonsense. */
const longestMs = 40 * 24 * 3_600_000;

/** When a provider's limit ends, by the headers and the body of its refusal, in milliseconds since 1970; or null. */
export function limitEnd(headers: IncomingHttpHeaders, body: string, now: number): number | null {
  const after = retryAfter(textOf(headers['retry-after']), now);
  const times = timeHeaders.map((name) => timeOf(textOf(headers[name])));
  const waits = durationHeaders.map((name) => plus(now, durationMs(textOf(headers[name]))));
  const candidates = [after, ...times, ...waits, ...inBody(body, now)];
  const future = candidates.filter((time) => time !== null && time > now && time - now < longestMs) as number[];
  // Several windows may be full: the call succeeds when the last one is over. `retry-after` is about all of them.
  return after !== null && future.includes(after) ? after : future.length === 0 ? null : Math.max(...future);
}

function inBody(body: string, now: number): (number | null)[] {
  try {
    const parsed: unknown = JSON.parse(body);
    const { data } = errorSchema.safeParse(Array.isArray(parsed) ? parsed[0] : parsed);
    if (data === undefined) return [];
    const { resets_at: at, resets_in_seconds: inSeconds, details = [] } = data.error;
    return [
      at === undefined ? null : at * 1_000,
      inSeconds === undefined ? null : now + inSeconds * 1_000,
      ...details.map(({ retryDelay }) => plus(now, durationMs(retryDelay ?? ''))),
    ];
  } catch {
    return [];
  }
}

function textOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? '';
}

function retryAfter(text: string, now: number): number | null {
  return /^\d+(\.\d+)?$/.test(text) ? now + Number(text) * 1_000 : dateOf(text);
}

function timeOf(text: string): number | null {
  return /^\d{9,11}$/.test(text) ? Number(text) * 1_000 : dateOf(text);
}

function dateOf(text: string): number | null {
  const time = /^(\d{4}-|[A-Z][a-z]{2}, )/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}

const unitMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationMs(text: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return null;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g);
  return [...parts].reduce((total, [, number, unit]) => total + Number(number) * (unitMs[unit ?? ''] ?? 0), 0);
}

function plus(now: number, waitMs: number | null): number | null {
  return waitMs === null ? null : now + waitMs;
}
