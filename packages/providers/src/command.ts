import type { ProviderPreset } from '@pawl/core/port/provider';
import { PawlError } from '@pawl/schema/error';

/** How a session takes up its conversation. */
export type Conversation =
  | { kind: 'new'; chosenId: string | null }
  | { kind: 'resume'; providerSessionId: string }
  /** Branches off another conversation, under an id of its own that we choose where we can. */
  | { kind: 'fork'; providerSessionId: string; chosenId: string | null };

/** The tools that an agent may use; null leaves them to the provider. */
export type ToolLimits = { allowed: string[] | null; denied: string[] };

export type SessionCommand = { command: string; args: string[]; prompt: string; stdin: 'fifo' | 'file' };

/** The command line and the first input of a session, from the provider's preset. Nothing secret goes into arguments. */
export function sessionCommand(
  preset: ProviderPreset,
  given: {
    conversation: Conversation;
    model: string | null;
    options: Record<string, string>;
    tools: ToolLimits;
    prompt: string;
  },
): SessionCommand {
  const [command, ...fixed] = preset.command;
  const args = [...fixed, ...conversationArguments(preset, given.conversation)];
  if (given.model !== null && preset.model !== null) args.push(...fill(preset.model, 'model', given.model));
  const { allowed, denied } = given.tools;
  if (allowed !== null && preset.tools !== null) args.push(...fill(preset.tools.allow, 'tools', allowed.join(',')));
  if (denied.length > 0 && preset.tools !== null) args.push(...fill(preset.tools.deny, 'tools', denied.join(',')));
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
  const chosen = (id: string | null) => (id === null ? [] : fill(preset.chooseSession ?? [], 'session', id));
  if (conversation.kind === 'new') return chosen(conversation.chosenId);
  const words = conversation.kind === 'fork' ? preset.fork : preset.resume;
  if (words === null) {
    throw new PawlError('conflict', `The provider ${preset.name} cannot ${conversation.kind} a conversation.`);
  }
  const args = fill(words, 'session', conversation.providerSessionId);
  return conversation.kind === 'fork' ? [...args, ...chosen(conversation.chosenId)] : args;
}

function fill(template: string[], name: string, value: string): string[] {
  return template.map((word) => word.replaceAll(`{${name}}`, () => value));
}
