import { PawlError } from '@pawl/schema/error';
import { interactions } from '@pawl/schema/definition';

/** A parsed chat message: a change of mode, or a message to an agent, which it may name. */
export type ChatRequest =
  | { kind: 'mode'; mode: (typeof interactions)[number] }
  | {
      kind: 'say';
      /** The agent named in front; it counts only if there is one with this name. */
      agent: string | null;
      /** The words for that agent, or the whole message. */
      text: string;
    };

/** Parses `/mode chat|auto`, `@agent words`, or plain words. Other words that begin with `/` or `@` are plain. */
export function parseChat(message: string): ChatRequest {
  const text = message.trim();
  if (text === '') throw new PawlError('invalid_input', 'The message is empty.');
  const command = /^\/mode(?:\s+(?<mode>\S.*))?$/.exec(text);
  if (command !== null) return { kind: 'mode', mode: modeNamed(command.groups?.['mode']) };
  const named = /^@(?<agent>[A-Za-z0-9][A-Za-z0-9._-]{0,127})\s+(?<words>[^]*\S)/.exec(text);
  if (named?.groups === undefined) return { kind: 'say', agent: null, text };
  return { kind: 'say', agent: named.groups['agent'] ?? null, text: named.groups['words'] ?? '' };
}

function modeNamed(word: string | undefined): (typeof interactions)[number] {
  const mode = interactions.find((each) => each === word?.trim().toLowerCase());
  if (mode !== undefined) return mode;
  throw new PawlError('invalid_input', `The mode is ${interactions.join(' or ')}.`, { hint: '/mode chat' });
}
