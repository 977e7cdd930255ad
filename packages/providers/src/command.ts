import type { ProviderPreset } from '@pawl/core/port/provider';
import type { AccessLevel } from '@pawl/schema/access-level';
import { PawlError } from '@pawl/schema/error';
import { userTurnLine } from '@pawl/wire/claude-input';
import { hookSettings } from './hook.ts';
import type { McpServer } from './mcp.ts';
import { describeServers } from './mcp.ts';
import { toolWords } from './tool-words.ts';
import { fill, splitWords } from './words.ts';

export type { McpServer } from './mcp.ts';

/** How a session continues a conversation. */
export type Conversation =
  | { kind: 'new'; chosenId: string | null }
  | { kind: 'resume'; providerSessionId: string }
  /** Forks another conversation, under an id that we choose if possible. */
  | { kind: 'fork'; providerSessionId: string; chosenId: string | null };

/** The tools that an agent may use; null leaves them to the provider. */
export type ToolLimits = { allowed: string[] | null; denied: string[] };

export type SessionCommand = {
  command: string;
  args: string[];
  prompt: string;
  stdin: 'fifo' | 'file';
  env: Record<string, string>;
  /** Files to write into the session's directory before it starts. */
  files: { path: string; content: string }[];
};

export type SessionGiven = {
  conversation: Conversation;
  /** The conversation so far, as lines, for a provider that keeps none itself. */
  handedOver?: string | null;
  model: string | null;
  options: Record<string, string>;
  tools: ToolLimits;
  access: AccessLevel;
  /** `system` is null if the CLI already has it, or gets it in the turn. */
  prompt: { system: string | null; turn: string };
  /** A UUID for the first line of stream-json, for a provider that echoes it. */
  promptName?: string;
  /** The session's own directory, absolute. */
  directory: string;
  /** The working directory. */
  worktree: string;
  mcpServers: Record<string, McpServer>;
  /** A shell command to ask before each tool call. */
  hook: string | null;
  /** Keep it from reading the repository's settings. */
  blockSettings: boolean;
  baseUrl: string | null;
};

/** One argument has room for 128 KB, including its terminator. */
const argumentBytes = 120 * 1024;

/**
 * Builds the command line and the first input of a session from its preset. Nothing secret goes into arguments. A
 * requested limit that cannot be enforced is an error, not dropped.
 */
export function sessionCommand(preset: ProviderPreset, given: SessionGiven): SessionCommand {
  const [command, ...others] = preset.command;
  const fixed = fill(others, {});
  const files: SessionCommand['files'] = [];
  const keep = (path: string, content: string) => {
    files.push({ path, content });
    return `${given.directory}/${path}`;
  };
  const servers = describeServers(preset.mcp, given.mcpServers, keep);
  const tools = toolWords(preset, given.tools);
  const settings = [...blockWords(preset, given), ...baseUrlWords(preset, given.baseUrl, keep)];
  const turn = wholeTurn(preset, given.prompt);
  const last = lastWords(preset, { options: given.options, turn, rest: [...tools, ...settings] }, keep);
  const words = [
    ...fixed,
    ...accessWords(preset, given.access),
    ...(given.model === null ? [] : fill(preset.model ?? [], { model: given.model })),
    ...(last.tookRest ? [] : tools),
    ...systemWords(preset, given.prompt.system, keep),
    ...servers.words,
    ...hookWords(preset, given.hook, keep),
    ...(last.tookRest ? [] : settings),
    ...optionWords(preset, given.options),
    ...conversationWords(preset, given.conversation),
    ...handOverWords(preset, given.handedOver ?? null, keep),
    ...last.words,
  ];
  const { args, env } = splitWords(words);
  const first = firstInput(preset, turn, given.promptName);
  return { command, args, ...first, env: { ...servers.env, ...env }, files };
}

type Keep = (path: string, content: string) => string;

function wholeTurn(preset: ProviderPreset, { system, turn }: SessionGiven['prompt']): string {
  return system === null || preset.systemPrompt !== null ? turn : `${system}\n\n${turn}`;
}

function firstInput(
  preset: ProviderPreset,
  turn: string,
  name: string | undefined,
): Pick<SessionCommand, 'prompt' | 'stdin'> {
  if (preset.promptMode === 'stream-json') return { prompt: userTurnLine(turn, name), stdin: 'fifo' };
  return { prompt: preset.promptMode === 'stdin' ? turn : '', stdin: 'file' };
}

function accessWords(preset: ProviderPreset, level: AccessLevel): string[] {
  requireAccess(preset, level);
  const { full, ask, readOnly } = preset.access;
  return fill((level === 'full' ? full : level === 'ask' ? ask : readOnly) ?? [], {});
}

/** Refuses an access level that the provider does not have. */
export function requireAccess({ name, access }: ProviderPreset, level: AccessLevel): void {
  if (level === 'full' || (level === 'ask' ? access.ask : access.readOnly) !== null) return;
  const what = level === 'ask' ? 'cannot ask for permission' : 'has no read-only mode';
  const other = access.askWith ?? 'claude, codex, gemini, qwen, opencode or copilot';
  const hints = {
    ask: `Use a provider that can ask (${other}), or choose another access: --access full, or --access read-only.`,
    'read-only': 'Choose another provider: `pawl providers` shows what each can do.',
  };
  throw new PawlError('conflict', `The provider ${name} ${what}.`, { hint: hints[level] });
}

function systemWords(preset: ProviderPreset, system: string | null, keep: Keep): string[] {
  if (system === null || preset.systemPrompt === null) return [];
  return fill(preset.systemPrompt, { file: keep('system-prompt.md', system) });
}

function hookWords(preset: ProviderPreset, hook: string | null, keep: Keep): string[] {
  if (hook === null || preset.hook === null) return [];
  return fill(preset.hook, { file: keep('hook-settings.json', hookSettings(hook)) });
}

function blockWords(preset: ProviderPreset, given: SessionGiven): string[] {
  if (!given.blockSettings) return fill(preset.repositorySettings.allow ?? [], {});
  if (preset.repositorySettings.block === null) {
    throw new PawlError('forbidden', `The provider ${preset.name} cannot ignore a repository’s settings.`, {
      hint: 'Read them, and if you agree with them: pawl trust',
    });
  }
  return fill(preset.repositorySettings.block, { worktree: JSON.stringify(given.worktree).slice(1, -1) });
}

function baseUrlWords({ account }: ProviderPreset, baseUrl: string | null, keep: Keep): string[] {
  if (account === null || baseUrl === null) return [];
  const quoted = JSON.stringify(baseUrl).slice(1, -1);
  const { baseUrlArguments, baseUrlFile, key } = account;
  const values: Record<string, string> = { baseUrl: quoted, key: key ?? '' };
  if (baseUrlFile !== undefined)
    values['file'] = keep(
      baseUrlFile.name,
      baseUrlFile.content.replace('{baseUrl}', () => quoted),
    );
  return fill(baseUrlArguments, values);
}

function optionWords(preset: ProviderPreset, options: Record<string, string>): string[] {
  return Object.entries(options).flatMap(([name, value]) =>
    fill(Object.hasOwn(preset.options, name) ? (preset.options[name] ?? []) : [], { value }),
  );
}

function conversationWords(preset: ProviderPreset, conversation: Conversation): string[] {
  const chosen = (id: string | null) => (id === null ? [] : fill(preset.chooseSession ?? [], { session: id }));
  if (conversation.kind === 'new') return chosen(conversation.chosenId);
  const words = conversation.kind === 'fork' ? preset.fork : preset.resume;
  if (words === null) {
    throw new PawlError('conflict', `The provider ${preset.name} cannot ${conversation.kind} a conversation.`);
  }
  const args = fill(words, { session: conversation.providerSessionId });
  return conversation.kind === 'fork' ? [...args, ...chosen(conversation.chosenId)] : args;
}

function handOverWords({ handOver }: ProviderPreset, conversation: string | null, keep: Keep): string[] {
  if (handOver === undefined || conversation === null) return [];
  return fill(handOver, { file: keep('conversation.jsonl', conversation) });
}

/** The last arguments: how to pass the prompt, and, if requested, options and the words for a bridge. */
function lastWords(
  preset: ProviderPreset,
  { options, turn, rest }: { options: Record<string, string>; turn: string; rest: string[] },
  keep: Keep,
): { words: string[]; tookRest: boolean } {
  const asked = preset.promptArguments.join('\n');
  const values: Record<string, string> = {};
  for (const name of Object.keys(preset.options).filter((each) => asked.includes(`{${each}}`))) {
    const value = Object.hasOwn(options, name) ? options[name] : undefined;
    if (value === undefined || value.trim() === '') throw missingOption(preset.name, name);
    values[name] = value;
  }
  if (asked.includes('{promptFile}')) values['promptFile'] = keep('prompt.txt', turn);
  if (asked.includes('{prompt}')) values['prompt'] = argumentOf(preset.name, turn);
  const words = preset.promptArguments.flatMap((word) => (word === '{rest}' ? rest : fill([word], values)));
  return { words, tookRest: preset.promptArguments.includes('{rest}') };
}

/** A prompt as an argument: not too long, and not to be mistaken for an option. */
function argumentOf(provider: string, turn: string): string {
  const bytes = Buffer.byteLength(turn);
  if (bytes > argumentBytes) {
    throw new PawlError('too_large', `The prompt has ${bytes} bytes, and ${provider} takes at most ${argumentBytes}.`, {
      hint: 'Put the long part into a file of the repository and name it, or use a provider that reads its prompt from stdin.',
    });
  }
  const text = turn.replaceAll('\0', '');
  return text.startsWith('-') ? `\n${text}` : text;
}

function missingOption(provider: string, name: string): PawlError {
  return new PawlError('invalid_input', `The provider ${provider} needs the option ${name}.`, {
    hint: `Pass it with the work, or define a provider in config.yaml that extends ${provider}.`,
  });
}
