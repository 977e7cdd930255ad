import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';

/** How a session takes up its conversation. */
export type Conversation = { kind: 'new'; chosenId: string } | { kind: 'resume'; providerSessionId: string };

export type SessionCommand = { command: string; args: string[]; prompt: string; stdin: 'fifo' | 'file' };

/** The command line and the first input of a session, from the provider's preset. Nothing secret goes into arguments. */
export function sessionCommand(
  preset: ProviderPreset,
  given: { conversation: Conversation; model: string | null; options: Record<string, string>; prompt: string },
): SessionCommand {
  const [command, ...fixed] = preset.command;
  const args = [...fixed, ...conversationArguments(preset, given.conversation)];
  if (given.model !== null && preset.model !== null) args.push(...fill(preset.model, 'model', given.model));
  for (const [name, value] of Object.entries(given.options)) {
    args.push(...fill(Object.hasOwn(preset.options, name) ? (preset.options[name] ?? []) : [], 'value', value));
  }
  return preset.promptMode === 'stream-json'
    ? { command, args, prompt: streamJsonMessage(given.prompt), stdin: 'fifo' }
    : { command, args, prompt: given.prompt, stdin: 'file' };
}

/** A user turn as one line of stream-json. */
export function streamJsonMessage(text: string): string {
  return `${JSON.stringify({ type: 'user', message: { role: 'user', content: text } })}\n`;
}

function conversationArguments(preset: ProviderPreset, conversation: Conversation): string[] {
  if (conversation.kind === 'new') return fill(preset.chooseSession ?? [], 'session', conversation.chosenId);
  if (preset.resume === null) {
    throw new PawlError('conflict', `The provider ${preset.name} cannot resume a conversation.`);
  }
  return fill(preset.resume, 'session', conversation.providerSessionId);
}

function fill(template: string[], name: string, value: string): string[] {
  return template.map((word) => word.replaceAll(`{${name}}`, () => value));
}
