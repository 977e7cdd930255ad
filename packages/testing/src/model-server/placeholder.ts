import { createHash } from 'node:crypto';
import type { Standing } from './conversation.ts';
import { modelServerLimits } from './limit.ts';

/**
 * Fills `{turns}`, `{step}` and `{id}`, which are safe anywhere. `{id}` is determined by the turn and the conversation.
 */
export function fillSafe(text: string, standing: Standing): string {
  const { userTurns, answers, last } = standing;
  const id = createHash('sha256').update(`${userTurns}\n${last}`).digest('hex').slice(0, 8);
  return text
    .replaceAll('{turns}', String(userTurns))
    .replaceAll('{step}', String(answers + 1))
    .replaceAll('{id}', id);
}

/** Also fills in foreign text, which is fine in the model's words but never in a command. */
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

/** The beginning of a text, without anything that could be read back as a marker. */
function quote(text: string): string {
  return text.replaceAll('[[', '[ [').slice(0, modelServerLimits.quoteCharacters);
}
