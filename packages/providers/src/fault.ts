import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';
import type { Fault } from '@pawl/schema/stream-event';
import type { Pattern } from './pattern.ts';
import { compilePattern } from './pattern.ts';

/**
 * What errors are called by the model vendors themselves, whichever CLI repeats it. Each is tried in this order, because
 * the words on a limit are the most precise. None of them can take long: there are no repetitions inside repetitions.
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

/** What a CLI says that repeats a 429 in words only. */
const tooManyRequests = /\b429\b|rate.?limit|too many requests/i;

/** How much of an error is read; what matters stands near its beginning. */
const wordCharacters = 4_096;

/** The kind of an error, from the words that model vendors use; null when they do not tell. */
export function faultInWords(words: string): Fault | null {
  const read = words.slice(0, wordCharacters);
  return vendorWords.find(([, pattern]) => pattern.test(read))?.[0] ?? null;
}

/**
 * The kind of an error, from the HTTP status of the model call and the words beside it. `tooMany` is what a 429 means when
 * nothing is said about a plan or quota: a limit from a CLI that has tried long enough by itself.
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

/** How many patterns of one kind a preset may have, and how much of a text they read: errors stand at its end. */
const presetLimits = { patterns: 50, textCharacters: 8_192 } as const;

/**
 * The kind of an error in the last part of a text, such as the end of stderr, by a preset's own patterns; null when none of
 * them is there. For what a parser could not tell.
 */
export function faultIn(words: string, patterns: Patterns): Fault | null {
  const read = words.slice(-presetLimits.textCharacters);
  return compiled(patterns).find(([, list]) => list.some((pattern) => pattern.isIn(read)))?.[0] ?? null;
}

/** The last line of a text in which a preset's patterns find a limit, and what follows it; null when there is none. */
export function limitWordsIn(words: string, patterns: Patterns): string | null {
  const lines = words.slice(-presetLimits.textCharacters).split('\n');
  const last = lines.findLastIndex((line) => faultIn(line, patterns) === 'limit');
  return last === -1 ? null : lines.slice(last).join('\n');
}

/** Refuses patterns that cannot be used, as a preset is taken up. */
export function checkPatterns(patterns: Patterns): void {
  for (const [name, list] of Object.entries(patterns)) {
    if (list.length > presetLimits.patterns)
      throw new PawlError('usage', `There are more than ${presetLimits.patterns} patterns for ${name}.`, {
        hint: 'Say several of them in one pattern with |.',
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

const known = new WeakMap<Patterns, [Fault, Pattern[]][]>();

/** Each preset's patterns are made once. One that cannot be used is left out: an error of ours must not hide theirs. */
function compiled(patterns: Patterns): [Fault, Pattern[]][] {
  const before = known.get(patterns);
  if (before !== undefined) return before;
  const order = ['limit', 'auth', 'transient'] as const;
  const made = order.map((fault): [Fault, Pattern[]] => [
    fault,
    patterns[fault].map(compilePattern).filter((pattern) => 'isIn' in pattern),
  ]);
  known.set(patterns, made);
  return made;
}
