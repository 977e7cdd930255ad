import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';

const unitsMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 60 * 60_000, d: 24 * 60 * 60_000 };

/** Parses a wait such as `30s`, `5m` or `1.5h`; a bare number is seconds. */
export function waitTime(text: string): number {
  const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  const waitMs = Math.round(Number(amount) * (unitsMs[unit === '' ? 's' : unit] ?? Number.NaN));
  if (amount !== '' && waitMs >= 1 && waitMs <= limits.longestQuestionMs) return waitMs;
  throw new PawlError('usage', `${JSON.stringify(text)} is not a time to wait.`, {
    hint: 'It looks like 30s, 5m or 2h, and is at most 7d.',
  });
}
