import { PawlError } from '@pawl/schema/error';
import type { ToolPermission } from './tool-permission.ts';
import { parseToolList } from './tool-permission.ts';

/** The parsed command line. The flags are those of Claude Code that matter without a model. */
export type Arguments = {
  sessionId: string | undefined;
  resume: string | undefined;
  forkSession: boolean;
  scenario: string | undefined;
  model: string;
  permission: ToolPermission;
  inputFormat: 'text' | 'stream-json';
  /** Echoes each user turn once it is taken in; only with stream-json input. */
  replayUserMessages: boolean;
  /** A prompt given as an argument instead of on stdin; only with text input. */
  prompt: string | undefined;
  help: boolean;
};

export const usageText = `Usage: pawl scripted-agent [options] [prompt]

Plays a scenario file as if it were a coding agent: Claude Code's stream-json on stdout, prompts on stdin.

  -p, --print                    accepted and ignored: it never asks anything
  --scenario FILE                the scenario, YAML or JSON (default: a small built-in one)
  --session-id UUID              the id of a new conversation
  --resume ID                    goes on with an earlier conversation
  --fork-session                 with --resume: goes on with a copy, under a new id
  --input-format FORMAT          text (default) or stream-json
  --output-format FORMAT         stream-json
  --replay-user-messages         shows each line of stdin when it is taken in
  --model NAME                   the model that the stream names
  --tools LIST                   the tools it may use, such as Bash,mcp__files__* (default: all; "" is none)
  --allowedTools LIST            the same; with both, a tool must be in both
  --disallowedTools LIST         tools that it may not use
  --append-system-prompt TEXT    accepted and ignored
  --include-partial-messages     accepted and ignored: the step "stream" always writes them
  -h, --help                     this text

Example: echo "Write the notes" | pawl scripted-agent
`;

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** True for an id that is safe as a file name and that Claude Code would take as a session id. */
export function isSessionId(id: string): boolean {
  return uuid.test(id);
}

/** Parses the command line, or throws a `usage` error that names the bad word. */
export function parseArguments(argv: string[]): Arguments {
  const result: Arguments = {
    sessionId: undefined,
    resume: undefined,
    forkSession: false,
    scenario: undefined,
    model: 'scripted',
    permission: { allowed: {}, disallowed: [] },
    inputFormat: 'text',
    replayUserMessages: false,
    prompt: undefined,
    help: false,
  };
  const words = [...argv];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--') words.splice(0).forEach((rest) => takePrompt(result, rest));
    else if (word.startsWith('-') && word !== '-') takeFlag(result, word, words);
    else takePrompt(result, word);
  }
  checkTogether(result);
  return result;
}

function takePrompt(result: Arguments, word: string): void {
  if (result.prompt !== undefined) throw usage(`There is a second prompt: ${word.slice(0, 80)}`);
  result.prompt = word;
}

function takeFlag(result: Arguments, word: string, words: string[]): void {
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  const flag = equals === -1 ? word : word.slice(0, equals);
  const value = (): string => {
    const text = equals === -1 ? words.shift() : word.slice(equals + 1);
    if (text === undefined) throw usage(`${flag} needs a value.`);
    return text;
  };
  switch (flag) {
    case '-p':
    case '--print':
    case '--include-partial-messages':
      return;
    case '-h':
    case '--help':
      result.help = true;
      return;
    case '--replay-user-messages':
      result.replayUserMessages = true;
      return;
    case '--fork-session':
      result.forkSession = true;
      return;
    case '--session-id':
      result.sessionId = value();
      return;
    case '--resume':
      result.resume = value();
      return;
    case '--scenario':
      result.scenario = value();
      return;
    case '--model':
      result.model = value();
      return;
    case '--append-system-prompt':
      value();
      return;
    case '--tools':
      addTools((result.permission.allowed.tools ??= []), flag, value());
      return;
    case '--allowedTools':
    case '--allowed-tools':
      addTools((result.permission.allowed.allowedTools ??= []), flag, value());
      return;
    case '--disallowedTools':
    case '--disallowed-tools':
      addTools(result.permission.disallowed, flag, value());
      return;
    case '--input-format':
      result.inputFormat = oneOf(flag, value(), ['text', 'stream-json']);
      return;
    case '--output-format':
      oneOf(flag, value(), ['stream-json']);
      return;
    default:
      throw usage(`Unknown option ${flag}.`);
  }
}

function addTools(list: string[], flag: string, text: string): void {
  const tools = parseToolList(text);
  if (tools === null) throw usage(`${flag} takes names such as Bash or mcp__files__*, not ${text.slice(0, 80)}.`);
  list.push(...tools);
}

function checkTogether(result: Arguments): void {
  if (result.sessionId !== undefined && !isSessionId(result.sessionId)) {
    throw usage('--session-id must be a UUID.');
  }
  if (result.forkSession && result.resume === undefined) throw usage('--fork-session needs --resume ID.');
  if (result.sessionId !== undefined && result.resume !== undefined && !result.forkSession) {
    throw usage('--session-id and --resume go together only with --fork-session.');
  }
  if (result.replayUserMessages && result.inputFormat !== 'stream-json') {
    throw usage('--replay-user-messages needs --input-format stream-json.');
  }
  if (result.prompt !== undefined && result.inputFormat === 'stream-json') {
    throw usage('With --input-format stream-json the prompt comes on stdin, not as a word.');
  }
}

function oneOf<T extends string>(flag: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((name) => name === value);
  if (found === undefined) throw usage(`${flag} takes ${allowed.join(' or ')}, not ${value.slice(0, 80)}.`);
  return found;
}

function usage(message: string): PawlError {
  return new PawlError('usage', message, { hint: 'Run it with --help to see the options.' });
}
