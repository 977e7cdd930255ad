import { readFileSync, statSync } from 'node:fs';
import { messageOf, PawlError } from '@pawl/schema/error';
import { conversationLineSchema } from '@pawl/schema/conversation/message';
import { parseObject } from '@pawl/wire/json-line';
import { engineLimits } from '../limit.ts';
import type { Message } from './message.ts';

/**
 * The conversation of this process: the messages that it was handed, then its own. It is not stored here: what the
 * process writes to stdout is, so each message must be written before it has an effect.
 */
export type OpenConversation = {
  /** Names it for vendors that cache prompts by name. */
  readonly name: string;
  readonly messages: readonly Message[];
  append(message: Message): void;
};

/** Begins with the conversation in a file, or with an empty one. Throws `invalid_input` for a file that is damaged. */
export function openConversation(file: string | undefined, name: string): OpenConversation {
  const messages = file === undefined ? [] : readConversation(file);
  return { name, messages, append: (message) => void messages.push(message) };
}

function readConversation(file: string): Message[] {
  const lines = read(file).split('\n');
  // A file that was written whole ends with a newline.
  if (lines.pop() !== '') throw damaged(file, 'its last line is cut');
  const entries = lines.map((line, index) => {
    const parsed = conversationLineSchema.safeParse(parseObject(line));
    if (!parsed.success) throw damaged(file, `line ${index + 1} cannot be read`);
    return parsed.data;
  });
  const [head, ...others] = entries;
  if (head === undefined || !('version' in head)) throw damaged(file, 'it does not begin with its version');
  return others.flatMap((entry) => ('message' in entry ? [entry.message] : []));
}

function read(file: string): string {
  try {
    const { size } = statSync(file);
    if (size > engineLimits.conversationBytes)
      throw damaged(file, `it is longer than ${engineLimits.conversationBytes} bytes`);
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof PawlError) throw error;
    throw damaged(file, messageOf(error));
  }
}

function damaged(file: string, why: string): PawlError {
  return new PawlError('invalid_input', `The conversation in ${file} cannot be used: ${why}.`);
}
