import { toolArgument } from '@pawl/schema/approval/tool-argument';
import { homeClient } from '@pawl/protocol/node/home-client';
import type { Home } from '@pawl/protocol/node/home';
import { messageOf, PawlError } from '@pawl/schema/error';
import { printableLine } from '@pawl/present/text';

/** A larger call is refused unseen. */
const inputBytes = 32 * 1024 * 1024;
/** How long to wait for an unavailable daemon, as during a restart, and how often to retry. */
const patienceMs = 10_000;
const retryMs = 100;
/** Always answer within this time; CLIs let a call through if its hook does not answer. */
const deadlineMs = 30_000;

/** A tool call that a CLI asks about: the tool, and its argument. */
export type ToolCall = { tool: string; input?: string };

/** Answers a CLI that asks before it uses a tool. Every failure is a refusal; to allow, prints nothing. */
export async function preToolUse(
  home: Home,
  streams: { input: AsyncIterable<Uint8Array | string>; write(text: string): void },
  environment: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const reason = await withDeadline(refusalOf(home, streams.input, environment));
  if (reason !== null) streams.write(`${JSON.stringify(denial(reason))}\n`);
  return 0;
}

/** Why the call is refused; null if it is allowed. */
async function refusalOf(
  home: Home,
  input: AsyncIterable<Uint8Array | string>,
  environment: NodeJS.ProcessEnv,
): Promise<string | null> {
  try {
    const token = environment['PAWL_AGENT_TOKEN'];
    if (!token || !environment['PAWL_AGENT_ID']) return 'Pawl does not recognise the caller as one of its agents.';
    const call = readToolCall(await readHookInput(input));
    const { allowed, reason } = await askGate(home, token, call);
    return allowed ? null : `Not allowed: ${reason}.`;
  } catch (error) {
    const hint =
      error instanceof PawlError && error.code === 'daemon_unreachable' ? ' Wait a little and try again.' : '';
    return `Pawl could not be reached, so this is refused: ${messageOf(error)}${hint}`;
  }
}

/**
 * Asks the gate as this agent. Waits for an unavailable daemon, but does not start it: a person may have stopped it.
 */
async function askGate(home: Home, token: string, call: ToolCall) {
  const client = homeClient(home, { token });
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

/** Parses a CLI's description of a call. */
export function readToolCall(text: string): ToolCall {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch (cause) {
    throw new PawlError('invalid_input', 'The hook’s input is not JSON.', { cause });
  }
  const { tool_name: tool, tool_input: input } = recordOf(said);
  if (typeof tool !== 'string' || tool === '') throw new PawlError('invalid_input', 'The hook’s input names no tool.');
  const argument = toolArgument(tool, input);
  return argument === undefined ? { tool } : { tool, input: argument };
}

/** Reads a hook's input, up to a limit. */
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
    timer = setTimeout(() => resolve('Pawl did not answer in time, so this is refused.'), deadlineMs);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A refusal in Claude's format. */
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
