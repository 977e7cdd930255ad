import { createClient } from '@pawl/protocol/client';
import type { Home } from '@pawl/protocol/home';
import { messageOf, PawlError } from '@pawl/schema/error';
import { printableLine } from '../../terminal/terminal.ts';

/** A call that is larger is not judged: what it is about is in a few fields, but they have to be found. */
const inputBytes = 32 * 1024 * 1024;
/** How long the daemon may be away, as when it is being restarted, and how often it is looked for. */
const patienceMs = 10_000;
const retryMs = 100;
/** After this long there is an answer in any case; CLIs let a call through whose hook does not answer. */
const deadlineMs = 30_000;

/** The call that a CLI asks about: the tool, and what the call is about. */
export type ToolCall = { tool: string; input?: string };

/**
 * Which field says what a tool's call is about. One each: of two, a model could fill the one that is looked at with
 * something harmless. A tool that is not here, or a search without a path, is about anything.
 */
const telling = new Map([
  ['Bash', 'command'],
  ['Read', 'file_path'],
  ['Write', 'file_path'],
  ['Edit', 'file_path'],
  ['MultiEdit', 'file_path'],
  ['NotebookEdit', 'notebook_path'],
  ['Glob', 'path'],
  ['Grep', 'path'],
  ['WebFetch', 'url'],
  ['WebSearch', 'query'],
  ['Agent', 'subagent_type'],
  ['Task', 'subagent_type'],
  ['Skill', 'skill'],
]);

/** Answers a CLI that asks before it uses a tool. Whatever goes wrong is a refusal; to allow, it says nothing at all. */
export async function preToolUse(
  home: Home,
  streams: { input: AsyncIterable<Uint8Array | string>; write(text: string): void },
  environment: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const reason = await withDeadline(refusalOf(home, streams.input, environment));
  if (reason !== null) streams.write(`${JSON.stringify(denial(reason))}\n`);
  return 0;
}

/** Why the call may not be made; null when it may. */
async function refusalOf(
  home: Home,
  input: AsyncIterable<Uint8Array | string>,
  environment: NodeJS.ProcessEnv,
): Promise<string | null> {
  try {
    const token = environment['PAWL_AGENT_TOKEN'];
    if (!token || !environment['PAWL_AGENT_ID']) return 'Pawl does not know who asks: this is no agent of its own.';
    const call = readToolCall(await readHookInput(input));
    const { allowed, reason } = await askGate(home, token, call);
    return allowed ? null : `Not allowed: ${reason}.`;
  } catch (error) {
    const hint =
      error instanceof PawlError && error.code === 'daemon_unreachable' ? ' Wait a little and try again.' : '';
    return `Pawl could not be asked, so this is not allowed: ${messageOf(error)}${hint}`;
  }
}

/** Asks the gate as this agent. A daemon that is away is waited for, and not started: a person may have stopped it. */
async function askGate(home: Home, token: string, call: ToolCall) {
  const client = createClient(home, { token });
  const until = performance.now() + patienceMs;
  for (;;) {
    try {
      return await client.gate('@current', call);
    } catch (error) {
      const away = error instanceof PawlError && error.code === 'daemon_unreachable';
      if (!away || performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

/** Takes apart what a CLI says of a call. */
export function readToolCall(text: string): ToolCall {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch (cause) {
    throw new PawlError('invalid_input', 'What the hook was told is not JSON.', { cause });
  }
  const { tool_name: tool, tool_input: input } = recordOf(said);
  if (typeof tool !== 'string' || tool === '') throw new PawlError('invalid_input', 'The hook was told of no tool.');
  const about = recordOf(input)[telling.get(tool) ?? ''];
  return typeof about === 'string' ? { tool, input: about } : { tool };
}

/** Reads what a CLI says to its hook, up to a bound. */
export async function readHookInput(input: AsyncIterable<Uint8Array | string>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of input) {
    parts.push(Buffer.from(part));
    bytes += part.length;
    if (bytes > inputBytes) throw new PawlError('too_large', `The call has more than ${inputBytes} bytes.`);
  }
  return Buffer.concat(parts).toString('utf8');
}

async function withDeadline(asked: Promise<string | null>): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('Pawl has not answered in time, so this is not allowed.'), deadlineMs);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A refusal in Claude's words. */
function denial(reason: string) {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: printableLine(reason),
    },
  };
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
