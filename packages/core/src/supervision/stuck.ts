import { limits } from '@pawl/schema/limit';
import type { Message } from '@pawl/schema/record';

/**
 * Who makes no progress although it runs. Liveness says nothing about that: a process may be there, and even talk, without
 * getting anywhere; and a build may be silent for half an hour and be fine.
 */

/** What one look at a running session sees of its progress. */
export type Seen = {
  runId: string;
  sessionId: string;
  /** The latest thing it said or did itself; 0 when there is none. What it was told is no progress. */
  messageId: number;
  /** How much it has printed. */
  bytes: number;
};

/** What the last look saw, and for how long nothing has moved. */
export type Progress = Seen & { silentMs: number };

/**
 * Adds one look to the last. Only time between two looks counts, and of a long gap only `longestGapMs`: a machine that slept for
 * two hours has not been stuck for two hours. A session that takes over from another within a run, as when a silent one was
 * ended and tried again, goes on with its silence until it says something.
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

/** Why a silent session counts as stuck, or null. While a tool runs, or that cannot be told, much more time is given. */
export function silenceOf({ silentMs, mayRunTool }: { silentMs: number; mayRunTool: boolean }): string | null {
  const boundMs = mayRunTool ? limits.stuckToolMs : limits.stuckMs;
  return silentMs < boundMs ? null : `no output for ${boundMs / 60_000} minutes`;
}

/** Why what a session said last is a loop, or null. `messages` are its last ones, oldest first. */
export function loopIn(messages: readonly Message[]): string | null {
  // Whoever was told something since has a reason to say the same again.
  const own = messages.slice(messages.findLastIndex(({ kind }) => kind === 'user' || kind === 'system') + 1);
  const calls = callsIn(own);
  const last = calls.at(-1)?.call;
  const sameCalls = countSame(calls.map(keyOf));
  if (last !== undefined && sameCalls >= limits.sameToolCalls)
    return `the same call of ${nameOf(last)}, with the same result, ${sameCalls} times in a row`;
  const sameTurns = countSame(turnsIn(own));
  return sameTurns >= limits.sameTurns ? `the same answer ${sameTurns} times in a row` : null;
}

/** A tool call with what came of it, which is null as long as it runs. */
type Call = { call: Message; result: string | null };

/** The calls that have a result, in the order of their results; then those that run, unless they only repeat the last one. */
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

/** What was said, each time with the calls that came of it: the same words before another call are another turn. */
function turnsIn(messages: readonly Message[]): string[] {
  const starts = messages.flatMap(({ kind }, index) => (kind === 'assistant' ? [index] : []));
  const turns = starts.map((start, turn) => {
    const words = messages[start]?.content.trim() ?? '';
    const rest = messages.slice(start + 1, starts[turn + 1]);
    const called = rest.filter(({ kind }) => kind === 'tool_call').length;
    const isOpen = called > rest.filter(({ kind }) => kind === 'tool_result').length;
    return { words, isOpen, key: JSON.stringify([words, callsIn(rest).map(keyOf)]) };
  });
  // What a turn comes to that has only begun is not known yet.
  const last = turns.at(-1);
  if (last?.isOpen === true && last.words === turns.at(-2)?.words) turns.pop();
  return turns.flatMap(({ words, key }) => (words === '' ? [] : [key]));
}

function keyOf({ call, result }: Call): string {
  return JSON.stringify([call.content, result]);
}

/** How many of the last entries are the same. */
function countSame(entries: readonly string[]): number {
  const last = entries.at(-1);
  return entries.length - 1 - entries.findLastIndex((entry) => entry !== last);
}

function nameOf(call: Message): string {
  const name = call.data?.['name'];
  return typeof name === 'string' && /^[\w.:-]{1,64}$/.test(name) ? name : 'a tool';
}
