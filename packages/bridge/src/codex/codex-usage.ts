import { at, countAt } from '../json.ts';
import type { Usage } from '../stream-writer.ts';

type Tokens = Pick<Usage, 'input' | 'output' | 'cacheRead' | 'cacheWrite'>;

/**
 * Turns Codex's totals over a thread into the usage of this process's model calls. A resumed thread starts with its
 * earlier total, which does not count.
 */
export class CodexUsage {
  #before: Tokens | null = null;

  /** The usage since the last report; null for a repeated report. */
  take(tokenUsage: unknown, duringTurn: boolean): Tokens | null {
    const total = tokensOf(at(tokenUsage, 'total'));
    const earlier = this.#before ?? (duringTurn ? minus(total, tokensOf(at(tokenUsage, 'last'))) : total);
    this.#before = total;
    const used = minus(total, earlier);
    return used.input + used.output + used.cacheRead + used.cacheWrite === 0 ? null : used;
  }
}

/** Codex counts cached tokens as input, too. */
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
