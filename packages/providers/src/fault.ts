import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import type { Fault } from '@pawl/schema/stream-event';
import type { Pattern } from './pattern.ts';
import { compilePattern } from './pattern.ts';

/**
 * The model vendors' own error words, whichever CLI repeats them. Tried in this order, because words about a limit are
 * the most precise. Without nested repetitions, so none is slow.
 */
const vendorWords: [Fault, RegExp][] = [
  [
    'limit',
    /usage.limit|hit your (?:[^\n]{1,40} )?limit|quota|credit balance|insufficient.(?:credit|fund|balance)|out of credits|spend(?:ing)? limit|payment required|exceed your (?:account|organization)|billing_error/i,
  ],
  [
    'auth',
    /\b401\b|\b403\b|unauthori[sz]ed|forbidden|(?:invalid|incorrect|missing|expired) (?:x-)?api.?key|api.key (?:is )?(?:not valid|invalid|expired)|invalid_api_key|api_key_invalid|authentication.(?:error|failed)|not logged in|please run \/login|(?:token|session|login|credentials?) (?:has |have |is |are )?(?:expired|revoked|invalid)|invalid_grant|failed to authenticate/i,
  ],
  [
    'transient',
    /\b429\b|rate.?limit|too many requests|overloaded|at capacity|\b(?:500|502|503|504|520|522|524|529)\b|internal server error|server.error|bad gateway|service unavailable|unavailable|gateway time.?out|econn(?:reset|refused|aborted)|etimedout|enotfound|eai_again|epipe|socket hang up|fetch failed|network error|connection (?:error|lost|reset|closed|refused|failed|timed out|to the api was)|connection_failed|terminated|stream (?:disconnected|closed|ended)|premature close|timed out|time.?out/i,
  ],
  [
    'other',
    /context.?(?:window|length)|prompt is too long|too many tokens|invalid.request|\b(?:400|404|413|422)\b|not found/i,
  ],
];

/** A 429 repeated in words only. */
const tooManyRequests = /\b429\b|rate.?limit|too many requests/i;

/** How much of an error is read; the important part is near its start. */
const wordCharacters = 4_096;

/** Classifies an error by the vendors' words, or null. */
export function faultInWords(words: string): Fault | null {
  const read = words.slice(0, wordCharacters);
  return vendorWords.find(([, pattern]) => pattern.test(read))?.[0] ?? null;
}

/**
 * Classifies an error by the HTTP status of the model call and its words. `tooMany` is the meaning of a 429 without
 * mention of a plan or quota: a limit if the CLI has already retried long enough.
 */
export function faultOf(status: number | null, words: string, tooMany: 'limit' | 'transient'): Fault | null {
  const told = faultInWords(words);
  if (told === 'limit') return 'limit';
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'limit';
  if (status === 429) return tooMany;
  if (status !== null && (status >= 500 || status === 408)) return 'transient';
  if (status !== null && status >= 400) return told === 'auth' ? 'auth' : 'other';
  return told === 'transient' && tooManyRequests.test(words.slice(0, wordCharacters)) ? tooMany : told;
}

type Patterns = ProviderPreset['patterns'];

/** Patterns per kind in a preset, and how much text they read: errors are at its end. */
const presetLimits = { patterns: 50, textCharacters: 8_192 } as const;

/**
 * Classifies an error at the end of a text, such as stderr, by a preset's own patterns, or null. For output that a
 * parser could not classify.
 */
export function faultIn(words: string, patterns: Patterns): Fault | null {
  return firstFault(compile(patterns), words.slice(-presetLimits.textCharacters));
}

/** The last line in which a preset's patterns find a limit, and what follows it; null if there is none. */
export function limitWordsIn(words: string, patterns: Patterns): string | null {
  const compiled = compile(patterns);
  const lines = words.slice(-presetLimits.textCharacters).split('\n');
  const last = lines.findLastIndex((line) => firstFault(compiled, line) === 'limit');
  return last === -1 ? null : lines.slice(last).join('\n');
}

/** Refuses unusable patterns when a preset is loaded. */
export function checkPatterns(patterns: Patterns): void {
  for (const [name, list] of Object.entries(patterns)) {
    if (list.length > presetLimits.patterns)
      throw new PawlError('usage', `There are more than ${presetLimits.patterns} patterns for ${name}.`, {
        hint: 'Combine several of them in one pattern with |.',
      });
    for (const source of list) {
      const pattern = compilePattern(source);
      if ('refused' in pattern)
        throw new PawlError(
          'usage',
          `The pattern ${JSON.stringify(source.slice(0, 80))} for ${name} ${pattern.refused}.`,
          {
            hint: 'Use words, ., classes, \\d \\w \\s \\b, groups, | and repetitions.',
          },
        );
    }
  }
}

type CompiledPatterns = [Fault, Pattern[]][];

function firstFault(compiled: CompiledPatterns, text: string): Fault | null {
  return compiled.find(([, list]) => list.some((pattern) => pattern.isIn(text)))?.[0] ?? null;
}

/** Skips an unusable pattern: our error must not hide theirs. */
function compile(patterns: Patterns): CompiledPatterns {
  const order = ['limit', 'auth', 'transient'] as const;
  return order.map((fault) => [fault, patterns[fault].map(compilePattern).filter((pattern) => 'isIn' in pattern)]);
}
