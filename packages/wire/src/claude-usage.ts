import type { StreamEvent } from '@pawl/schema/stream-event';
import type { JsonObject } from './json-line.ts';
import { amount, asObject, count, field, usageEvent } from './json-line.ts';

type Tokens = { inputTokens: number; outputTokens: number; cachedTokens: number };

/** The tokens of a call, with those that were written to the cache as input. */
export function callTokens(usage: JsonObject): Tokens {
  return {
    inputTokens: Math.round(amount(field(usage, 'input_tokens')) + amount(field(usage, 'cache_creation_input_tokens'))),
    outputTokens: count(field(usage, 'output_tokens')),
    cachedTokens: count(field(usage, 'cache_read_input_tokens')),
  };
}

/** Qwen, the only one with a total, counts cached tokens as input, too. */
function qwenTokens(usage: unknown): Tokens {
  const cachedTokens = count(field(usage, 'cache_read_input_tokens'));
  return {
    inputTokens: Math.max(0, count(field(usage, 'input_tokens')) - cachedTokens),
    outputTokens: count(field(usage, 'output_tokens')),
    cachedTokens,
  };
}

/** Qwen reports a call's usage once, on the last block of its answer. */
export function qwenCallUsage(usage: unknown): StreamEvent[] {
  return field(usage, 'total_tokens') === undefined ? [] : [usageEvent('call', qwenTokens(usage))];
}

/**
 * The usage in a result. Claude's `usage` and `num_turns` are for one turn of a process that may have several, but its
 * `modelUsage` and `total_cost_usd` are totals for the conversation, including subagents. Qwen's `usage` is such a
 * total, too. Without either, the numbers are for the process. All zeros means no report: a turn that failed before its
 * first answer.
 */
export function resultUsage(record: JsonObject): StreamEvent[] {
  const turns = count(field(record, 'num_turns'));
  const lastTurn = turns === 0 ? [] : [usageEvent('call', { turns: 1 })];
  const cost = field(record, 'total_cost_usd');
  const costUsd = cost === undefined ? null : amount(cost);
  const models = asObject(field(record, 'modelUsage'));
  if (models !== null) {
    const sums = modelSums(models);
    return isNothing(sums) ? lastTurn : [usageEvent('conversation', { ...sums, costUsd }), ...lastTurn];
  }
  const usage = asObject(field(record, 'usage')) ?? {};
  if (field(usage, 'total_tokens') !== undefined) return [usageEvent('conversation', qwenTokens(usage)), ...lastTurn];
  const tokens = callTokens(usage);
  return isNothing(tokens) ? lastTurn : [usageEvent('session', { ...tokens, costUsd, turns })];
}

function isNothing({ inputTokens, outputTokens, cachedTokens }: Tokens): boolean {
  return inputTokens + outputTokens + cachedTokens === 0;
}

function modelSums(models: JsonObject): Tokens {
  const sums = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  for (const model of Object.values(models)) {
    sums.inputTokens += count(field(model, 'inputTokens')) + count(field(model, 'cacheCreationInputTokens'));
    sums.outputTokens += count(field(model, 'outputTokens'));
    sums.cachedTokens += count(field(model, 'cacheReadInputTokens'));
  }
  return sums;
}
