import { createHash } from 'node:crypto';
import type { Standing } from './conversation.ts';
import { modelServerLimits } from './limit.ts';

/**
 * Fills `{turns}`, `{step}` and `{id}`, which are safe anywhere. `{id}` is the same for the same turn of the same
 * conversation, and another one for another.
 */
export function fillSafe(text: string, standing: Standing): string {
  const { userTurns, answers, last } = standing;
  const id = createHash('sha256').update(`${userTurns}\n${last}`).digest('hex').slice(0, 8);
  return text
    .replaceAll('{turns}', String(userTurns))
    .replaceAll('{step}', String(answers + 1))
    .replaceAll('{id}', id);
}

/** Fills in also what others said, which is fit for what the model says but never for a command. */
export function fillSpoken(text: string, standing: Standing): string {
  const mark = /\[\[mark:([\w.-]{1,80})\]\]/.exec(standing.first)?.[1] ?? 'none';
  const spoken: Record<string, string> = {
    '{first}': quote(standing.first),
    '{last}': quote(standing.last),
    '{result}': quote(standing.result),
    '{mark}': mark,
  };
  return fillSafe(text, standing).replaceAll(/\{(?:first|last|result|mark)\}/g, (name) => spoken[name] ?? name);
}

/** The beginning of a text, without what could be taken for a marker when it comes back. */
function quote(text: string): string {
  return text.replaceAll('[[', '[ [').slice(0, modelServerLimits.quoteCharacters);
}
