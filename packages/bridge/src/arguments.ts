import { PawlError } from '@pawl/schema/error';

export const protocols = ['acp', 'codex', 'pi'] as const;
export type ProtocolName = (typeof protocols)[number];

/** The parsed command line. */
export type Arguments = {
  protocol: ProtocolName;
  sessionId: string | null;
  resume: string | null;
  forkSession: boolean;
  model: string | null;
  mode: string | null;
  systemPromptFile: string | null;
  mcpFile: string | null;
  permission: 'full' | 'ask' | 'read-only';
  /** True for an ACP agent that takes a prompt into its running turn and answers it. */
  steer: boolean;
  /** The agent's command. */
  command: [string, ...string[]];
};

export const usageText = `Usage: pawl-bridge <acp|codex|pi> [options] -- <agent command>

Speaks an agent's live protocol and shows it as Claude Code's stream-json: user turns on stdin, events on stdout.
The agent command is whole: "gemini --acp", "codex app-server", "pi --mode rpc".

  --session-id ID                     the id of a new conversation; agents that make their own ids (acp, codex) keep to those
  --resume ID                         goes on with an earlier conversation
  --fork-session                      with --resume: goes on with a copy, under a new id
  --model NAME                        the model
  --mode ID                           acp: the session mode, such as full-access
  --append-system-prompt-file FILE    added to the agent's own system prompt
  --mcp-config FILE                   MCP servers, in Claude Code's form (acp, codex)
  --permission full|ask|read-only     how questions of the agent are answered, and its sandbox (default: full)
  --steer                             acp: this agent takes a prompt into its running turn
  -h, --help                          this text

Example: pawl-bridge acp --permission read-only -- gemini --acp
`;

/** Ids go into a command line or a request, so they must not look like an option. */
const conversationId = /^[A-Za-z0-9][\w.:-]{0,199}$/;

/** Parses the command line, or throws a `usage` error that names the bad word; null for help. */
export function parseArguments(argv: string[]): Arguments | null {
  const separator = argv.indexOf('--');
  const own = separator === -1 ? argv : argv.slice(0, separator);
  if (own.includes('-h') || own.includes('--help')) return null;
  const [program, ...words] = separator === -1 ? [] : argv.slice(separator + 1);
  if (program === undefined || program === '') throw usage('The agent command is missing after "--".');
  const [name, ...flags] = own;
  const result: Arguments = {
    protocol: oneOf('The protocol', name ?? '', protocols),
    sessionId: null,
    resume: null,
    forkSession: false,
    model: null,
    mode: null,
    systemPromptFile: null,
    mcpFile: null,
    permission: 'full',
    steer: false,
    command: [program, ...words],
  };
  for (let flag = flags.shift(); flag !== undefined; flag = flags.shift()) takeFlag(result, flag, flags);
  checkTogether(result);
  return result;
}

function takeFlag(result: Arguments, flag: string, rest: string[]): void {
  const value = (): string => {
    const text = rest.shift();
    if (text === undefined || text === '') throw usage(`${flag} needs a value.`);
    return text;
  };
  const id = (): string => {
    const text = value();
    if (!conversationId.test(text)) throw usage(`${flag} takes an id, not ${text.slice(0, 80)}.`);
    return text;
  };
  switch (flag) {
    case '--session-id':
      result.sessionId = id();
      return;
    case '--resume':
      result.resume = id();
      return;
    case '--fork-session':
      result.forkSession = true;
      return;
    case '--model':
      result.model = value();
      return;
    case '--mode':
      result.mode = value();
      return;
    case '--append-system-prompt-file':
      result.systemPromptFile = value();
      return;
    case '--mcp-config':
      result.mcpFile = value();
      return;
    case '--permission':
      result.permission = oneOf(flag, value(), ['full', 'ask', 'read-only']);
      return;
    case '--steer':
      result.steer = true;
      return;
    default:
      throw usage(`Unknown option ${flag.slice(0, 80)}.`);
  }
}

function checkTogether(result: Arguments): void {
  if (result.permission === 'ask' && result.protocol === 'pi') throw usage('--permission ask is not for pi.');
  if (result.forkSession && result.resume === null) throw usage('--fork-session needs --resume ID.');
  if (result.sessionId !== null && result.resume !== null && !result.forkSession) {
    throw usage('--session-id and --resume go together only with --fork-session.');
  }
}

function oneOf<T extends string>(what: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((name) => name === value);
  if (found === undefined) throw usage(`${what} is ${allowed.join(' or ')}, not "${value.slice(0, 80)}".`);
  return found;
}

function usage(message: string): PawlError {
  return new PawlError('usage', message, { hint: 'Run it with --help to see the options.' });
}
