import { at, countAt } from '../json.ts';
import type { Usage } from '../voice.ts';

type Tokens = Pick<Usage, 'input' | 'output' | 'cacheRead' | 'cacheWrite'>;

/**
 * Turns Codex's sums over a thread into what each model call of this process used. A thread that is taken up brings its
 * earlier sum along, which is none of this process.
 */
export class CodexUsage {
  #before: Tokens | null = null;

  /** What was used since the last report; null for a report that only repeats what was known. */
  take(tokenUsage: unknown, duringTurn: boolean): Tokens | null {
    const total = tokensOf(at(tokenUsage, 'total'));
    const earlier = this.#before ?? (duringTurn ? minus(total, tokensOf(at(tokenUsage, 'last'))) : total);
    this.#before = total;
    const used = minus(total, earlier);
    return used.input + used.output + used.cacheRead + used.cacheWrite === 0 ? null : used;
  }
}

/** Codex counts what it read from the cache as input too. */
function tokensOf(value: unknown): Tokens {
  const cacheRead = countAt(value, 'cachedInputTokens');
  const cacheWrite = countAt(value, 'cacheWriteInputTokens');
  const input = Math.max(0, countAt(value, 'inputTokens') - cacheRead - cacheWrite);
  return { input, output: countAt(value, 'outputTokens'), cacheRead, cacheWrite };
}

function minus(one: Tokens, other: Tokens): Tokens {
  return {
    input: Math.max(0, one.input - other.input),
    output: Math.max(0, one.output - other.output),
    cacheRead: Math.max(0, one.cacheRead - other.cacheRead),
    cacheWrite: Math.max(0, one.cacheWrite - other.cacheWrite),
  };
}
