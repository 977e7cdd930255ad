import { parseArgs } from 'node:util';
import { messageOf, PawlError } from '@pawl/schema/error';
import { engineLimits } from '../limit.ts';
import type { WriteSafety } from '../tools/file-memory.ts';
import type { Price } from './cost.ts';

/** Which calls need no approval: all, none that changes anything, or those that a person allows. */
export type Access = 'full' | 'ask' | 'read-only';

export type Arguments = {
  sessionId: string | undefined;
  /** The file with the conversation so far. */
  conversation: string | undefined;
  model: string | undefined;
  systemPromptFile: string | undefined;
  /** Names of tools; null for all. */
  tools: string[] | null;
  disallowed: string[];
  access: Access;
  mode: 'chat' | 'auto';
  maxIterations: number;
  contextTokens: number;
  writeSafety: WriteSafety;
  /** Null if the prices of the model are unknown. */
  price: Price | null;
  /** Files with MCP servers. */
  serverFiles: string[];
  /** A file of the repository with MCP servers, which may be missing. */
  projectServers: string | undefined;
  partialMessages: boolean;
  echoes: boolean;
};

export const usageText = `Usage: pawl-engine [options] < input

Pawl's own agent. Speaks Claude Code's stream-json on stdin and stdout.

  --model VENDOR/MODEL             anthropic, openai, openai-chat, google or compatible (default: $PAWL_ENGINE_MODEL)
  --session-id UUID                the id of this session
  --conversation FILE              goes on with the conversation in this file, which is not changed
  --append-system-prompt-file FILE added to the system prompt
  --tools LIST                     the tools that it may use (default: all; "" is none)
  --disallowedTools LIST           tools that it may not use
  --access LEVEL                   full (default), ask (over stdio) or read-only
  --mode MODE                      auto (default): works until it is finished; chat: one tool for each answer
  --max-iters N                    answers in one turn (default: ${engineLimits.iterations})
  --context-tokens N               the context of the model (default: ${engineLimits.contextTokens})
  --write-safety MODE              strict, warn (default) or off: whether a file must be read before it is overwritten
  --price IN/OUT/CACHED            dollars for a million tokens of input, output and cached input
  --mcp-config FILE                MCP servers in Claude Code's format; may be given several times
  --project-servers FILE           MCP servers of the repository, if there is such a file
  --include-partial-messages       streams text as it arrives
  --replay-user-messages           shows each line of stdin when it is taken in
  -h, --help                       this text
`;

const options = {
  'session-id': { type: 'string' },
  conversation: { type: 'string' },
  model: { type: 'string' },
  'append-system-prompt-file': { type: 'string' },
  tools: { type: 'string' },
  disallowedTools: { type: 'string' },
  access: { type: 'string' },
  mode: { type: 'string' },
  'max-iters': { type: 'string' },
  'context-tokens': { type: 'string' },
  'write-safety': { type: 'string' },
  price: { type: 'string' },
  'mcp-config': { type: 'string', multiple: true },
  'project-servers': { type: 'string' },
  'include-partial-messages': { type: 'boolean' },
  'replay-user-messages': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Parses the command line; null asks for help. Throws a `usage` error that names the bad word. */
export function parseArguments(argv: string[]): Arguments | null {
  const values = parseWords(argv);
  if (values.help === true) return null;
  const result: Arguments = {
    sessionId: values['session-id'],
    conversation: values.conversation,
    model: values.model,
    systemPromptFile: values['append-system-prompt-file'],
    tools: values.tools === undefined ? null : toolList(values.tools),
    disallowed: toolList(values.disallowedTools ?? ''),
    access: oneOf('--access', values.access ?? 'full', ['full', 'ask', 'read-only']),
    mode: oneOf('--mode', values.mode ?? 'auto', ['chat', 'auto']),
    maxIterations: count('--max-iters', values['max-iters'], engineLimits.iterations),
    contextTokens: count('--context-tokens', values['context-tokens'], engineLimits.contextTokens),
    writeSafety: oneOf('--write-safety', values['write-safety'] ?? 'warn', ['strict', 'warn', 'off']),
    price: values.price === undefined ? null : priceOf(values.price),
    serverFiles: values['mcp-config'] ?? [],
    projectServers: values['project-servers'],
    partialMessages: values['include-partial-messages'] ?? false,
    echoes: values['replay-user-messages'] ?? false,
  };
  if (result.sessionId !== undefined && !isSessionId(result.sessionId)) throw usage('--session-id must be a UUID.');
  return result;
}

function isSessionId(id: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
}

function parseWords(argv: string[]) {
  try {
    return parseArgs({ args: argv, options, strict: true }).values;
  } catch (error) {
    throw usage(messageOf(error));
  }
}

function toolList(text: string): string[] {
  return text.match(/[^\s,(]+(?:\([^)]*\))?/g) ?? [];
}

function count(flag: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw usage(`${flag} takes a positive number.`);
  return value;
}

function priceOf(text: string): Price {
  const [input = Number.NaN, output = Number.NaN, cached = input, ...rest] = text.split('/').map(Number);
  const isPrice = [input, output, cached].every((usd) => Number.isFinite(usd) && usd >= 0) && rest.length === 0;
  if (!isPrice) throw usage('--price takes dollars for a million tokens in and out, as in 3/15.');
  return { input, output, cached };
}

function oneOf<T extends string>(flag: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((name) => name === value);
  if (found === undefined) throw usage(`${flag} takes ${allowed.join(', ')}, not ${value.slice(0, 80)}.`);
  return found;
}

function usage(message: string): PawlError {
  return new PawlError('usage', message, { hint: 'Run it with --help to see the options.' });
}
