import { limits } from '@pawl/schema/limit';
import type { Message } from '@pawl/schema/record';

/**
 * Detects agents that run without progress. Liveness is no evidence: a process may talk without getting anywhere, and a
 * build may be silent for half an hour and be fine.
 */

/** One observation of a running session. */
export type Seen = {
  runId: string;
  sessionId: string;
  /** Its latest own message; 0 if there is none. Its input is not progress. */
  messageId: number;
  /** Bytes printed so far. */
  bytes: number;
};

/** The last observation, and how long nothing has moved. */
export type Progress = Seen & { silentMs: number };

/**
 * Adds an observation. Only time between observations counts, and at most `longestGapMs` of a long gap: a machine that
 * slept for two hours was not stuck for two hours. A session that replaces another within a run, as after a hang,
 * inherits its silence until it says something.
 */
export function progressAfter(
  last: Progress | null,
  seen: Seen,
  { elapsedMs, longestGapMs }: { elapsedMs: number; longestGapMs: number },
): Progress {
  if (last === null || last.runId !== seen.runId) return { ...seen, silentMs: 0 };
  const moved = seen.messageId > last.messageId || (seen.sessionId === last.sessionId && seen.bytes > last.bytes);
  const addedMs = Math.min(Math.max(0, elapsedMs), longestGapMs);
  const messageId = Math.max(seen.messageId, last.messageId);
  return { ...seen, messageId, silentMs: moved ? 0 : last.silentMs + addedMs };
}

/** Why a silent session counts as stuck, or null. Much more time is allowed while a tool runs or may run. */
export function silenceOf({ silentMs, mayRunTool }: { silentMs: number; mayRunTool: boolean }): string | null {
  const boundMs = mayRunTool ? limits.stuckToolMs : limits.stuckMs;
  return silentMs < boundMs ? null : `no output for ${boundMs / 60_000} minutes`;
}

/** Why the latest messages of a session are a loop, or null. `messages` are oldest first. */
export function loopIn(messages: readonly Message[]): string | null {
  // After new input, repeating itself is legitimate.
  const own = messages.slice(messages.findLastIndex(({ kind }) => kind === 'user' || kind === 'system') + 1);
  const calls = callsIn(own);
  const last = calls.at(-1)?.call;
  const sameCalls = countSame(calls.map(keyOf));
  if (last !== undefined && sameCalls >= limits.sameToolCalls)
    return `the same call of ${nameOf(last)}, with the same result, ${sameCalls} times in a row`;
  const sameTurns = countSame(turnsIn(own));
  return sameTurns >= limits.sameTurns ? `the same answer ${sameTurns} times in a row` : null;
}

/** A tool call with its result; null while it runs. */
type Call = { call: Message; result: string | null };

/** Finished calls in the order of their results; then running ones, unless they only repeat the last. */
function callsIn(messages: readonly Message[]): Call[] {
  const open = new Map<unknown, Message>();
  const calls: Call[] = [];
  for (const message of messages) {
    const id = message.data?.['toolId'];
    if (message.kind === 'tool_call') open.set(id, message);
    if (message.kind !== 'tool_result') continue;
    const call = open.get(id);
    open.delete(id);
    if (call !== undefined) calls.push({ call, result: message.content });
  }
  const before = calls.at(-1)?.call.content;
  const running = [...open.values()].filter(({ content }) => content !== before);
  return [...calls, ...running.map((call) => ({ call, result: null }))];
}

/** Assistant messages, each with its tool calls: the same words before another call are another turn. */
function turnsIn(messages: readonly Message[]): string[] {
  const starts = messages.flatMap(({ kind }, index) => (kind === 'assistant' ? [index] : []));
  const turns = starts.map((start, turn) => {
    const words = messages[start]?.content.trim() ?? '';
    const rest = messages.slice(start + 1, starts[turn + 1]);
    const called = rest.filter(({ kind }) => kind === 'tool_call').length;
    const isOpen = called > rest.filter(({ kind }) => kind === 'tool_result').length;
    return { words, isOpen, key: JSON.stringify([words, callsIn(rest).map(keyOf)]) };
  });
  // The outcome of an unfinished turn is unknown.
  const last = turns.at(-1);
  if (last?.isOpen === true && last.words === turns.at(-2)?.words) turns.pop();
  return turns.flatMap(({ words, key }) => (words === '' ? [] : [key]));
}

function keyOf({ call, result }: Call): string {
  return JSON.stringify([call.content, result]);
}

/** How many of the last entries are equal. */
function countSame(entries: readonly string[]): number {
  const last = entries.at(-1);
  return entries.length - 1 - entries.findLastIndex((entry) => entry !== last);
}

function nameOf(call: Message): string {
  const name = call.data?.['name'];
  return typeof name === 'string' && /^[\w.:-]{1,64}$/.test(name) ? name : 'a tool';
}
