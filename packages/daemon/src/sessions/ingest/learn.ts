import type { UsageState } from '@pawl/core/accounts/usage';
import { usageAfter } from '@pawl/core/accounts/usage';
import type { ProxiedTokens } from '@pawl/core/accounts/proxied-usage';
import { limitOfRefusal, proxiedTokens, withProxied } from '@pawl/core/accounts/proxied-usage';
import { firstLine } from '@pawl/core/shorten';
import { createRedaction } from '@pawl/host/output/secret-mask';
import { limits } from '@pawl/schema/limit';
import type { ProxyLine } from '@pawl/schema/proxy';
import { notListed } from '@pawl/schema/proxy';
import type { Chunk } from '@pawl/schema/record';
import type { LiveState } from '@pawl/schema/status';
import type { StreamEvent } from '@pawl/schema/stream-event';
import { longApprovalRequest } from '@pawl/wire/approval-line';
import type { Batch, IntakeTarget, SaidMessage } from './batch.ts';
import { lastCount } from './proxy-record.ts';
import { isPieceOf, kept, saidMessage } from './said-message.ts';
import type { Speech } from './show.ts';
import { beginSpeech, show } from './show.ts';

/** Everything known about a session from its output so far. */
export type Learned = {
  readonly target: IntakeTarget;
  readonly about: { projectId: string | null; agentId: string };
  readonly redaction: (text: string) => string;
  providerSessionId: string | null;
  /** A process has one conversation: its first id counts, whatever it prints later. */
  identified: boolean;
  counted: UsageState;
  /** The proxy's own count; null if the session does not call its model through it. */
  proxied: ProxiedTokens | null;
  limitUntil: number | null;
  limitSeenMs: number | null;
  live: LiveState | undefined;
  readonly speech: Speech;
  turnEnded: boolean;
  turnBegunMs: number;
  /** Running tools: what they do, by call id. */
  readonly openTools: Map<string, string>;
  answering: boolean;
  /** The number of this session's messages in the history. */
  messages: number;
};

/** Events that only a model which has read its input causes. */
const modelEvents: readonly StreamEvent['type'][] = ['text', 'text-delta', 'thinking', 'tool-call'];

/** How much of a tool call is shown. */
const toolCharacters = 120;

const tooManyMessages: SaidMessage = {
  kind: 'system',
  content: 'More was said in this session than its history keeps; `pawl logs` has all of it.',
  data: null,
};

/** How much of a provider's result is stored as a fact; the chunks have all of it. */
const resultCharacters = 8_192;

const newline = 0x0a;

/** The stored state of a session before another line is read. */
export function beginLearning(target: IntakeTarget): Learned {
  const { agent, session, offsets } = target;
  const hasBegun = offsets.stdout > 0;
  return {
    target,
    about: { projectId: agent.projectId, agentId: agent.id },
    redaction: createRedaction(target.secrets),
    providerSessionId: session.providerSessionId,
    identified: hasBegun && session.providerSessionId !== null,
    counted: { usage: session.usage, reported: session.reported },
    proxied: countBefore(target),
    limitUntil: session.limitUntil,
    limitSeenMs: session.limitUntil === null ? null : performance.now(),
    // After a restart the last line is unknown, but there was one.
    live: hasBegun ? { live: session.result === null ? 'working' : 'idle', detail: '' } : undefined,
    speech: beginSpeech(target.secrets),
    turnEnded: session.result !== null,
    turnBegunMs: 0,
    openTools: new Map(target.openTools),
    answering: false,
    messages: target.messages,
  };
}

export function learnLine(state: Learned, line: { text: string; oversized: boolean }, batch: Batch): void {
  if (line.oversized) {
    batch.approvals.push(...longApprovalRequest(line.text));
    noteDamage(state, batch, 'stdout', `a line is longer than ${limits.lineBytes} bytes; it is stored but not read`);
  } else if (line.text !== '') for (const event of eventsOf(state, line.text)) learn(state, event, batch);
}

/** Records that some output cannot be read. */
export function noteDamage({ target, about }: Learned, batch: Batch, stream: Chunk['stream'], reason: string): void {
  batch.events.push({ type: 'session.damaged', ...about, data: { no: target.session.no, stream, reason } });
}

/** Drops all whole lines but the last if they contain no fact. */
export function worthReading(state: Learned, bytes: Uint8Array): Uint8Array {
  if (!state.identified) return bytes;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { telling, conversation } = state.target.parser;
  const texts = isFull(state) ? telling : [...telling, ...conversation];
  if (texts.some((text) => buffer.includes(text))) return bytes;
  return buffer.subarray(buffer.lastIndexOf(newline, buffer.length - 2) + 1);
}

/** True if the history of a session is full. */
function isFull({ messages }: Learned): boolean {
  return messages > limits.messagesPerSession;
}

/** JSON may escape a secret, so compare decoded text. */
function eventsOf({ target, redaction }: Learned, line: string): StreamEvent[] {
  const events = target.parser.parse(line);
  return line.includes('\\u') ? events.map((event) => cleanEvent(event, redaction)) : events;
}

/** An event with its secrets masked. */
function cleanEvent(event: StreamEvent, clean: (text: string) => string): StreamEvent {
  const entries = Object.entries(event).map(([name, value]) => [
    name,
    typeof value === 'string' ? clean(value) : value,
  ]);
  return Object.fromEntries(entries) as StreamEvent;
}

function learn(state: Learned, event: StreamEvent, batch: Batch): void {
  const { session, reportedBefore } = state.target;
  state.live = show(state.speech, event, state.live, batch.shown);
  // An agent that continues to work is past its limit.
  if (event.type === 'tool-call' || event.type === 'text-delta') state.limitSeenMs = null;
  follow(state, event, batch);
  noteMailEvidence(state, event, batch);
  if (event.type === 'approval-request' || event.type === 'approval-cancel') batch.approvals.push(event);
  else if (event.type === 'session') {
    if (state.identified) return;
    state.identified = true;
    const { providerSessionId } = event;
    if (providerSessionId === state.providerSessionId) return;
    state.providerSessionId = providerSessionId;
    batch.patch.providerSessionId = providerSessionId;
    batch.events.push({ type: 'session.identified', ...state.about, data: { no: session.no, providerSessionId } });
  } else if (event.type === 'usage') {
    state.counted = usageAfter(state.counted, event, reportedBefore);
    noteUsage(state, batch);
  } else if (event.type === 'limit') {
    noteLimit(state, event.until, batch);
  } else if (event.type === 'result') {
    // A turn that ended well was not stopped by a limit, whatever was reported before.
    if (event.ok && state.limitUntil !== null) {
      state.limitUntil = null;
      state.limitSeenMs = null;
      batch.patch.limitUntil = null;
    }
    const { ok, text, fault, outcome } = event;
    batch.patch.result = {
      ok,
      text: text.slice(0, resultCharacters),
      fault,
      ...(outcome === undefined ? {} : { outcome }),
    };
    state.turnEnded = true;
  }
}

/** Learns from a line of the proxy's record. */
export function learnProxyLine(state: Learned, line: ProxyLine, batch: Batch): void {
  if (line.type === 'usage') {
    state.proxied = proxiedTokens(line);
    // The provider answered, so a limit is over.
    state.limitSeenMs = null;
    noteUsage(state, batch);
  } else if (line.type === 'limit') {
    const limit = limitOfRefusal(line);
    if (limit !== null) noteLimit(state, limit.until, batch);
  } else if (line.type === 'network') {
    const { host, port, reason } = line;
    batch.events.push({ type: 'network.refused', ...state.about, data: { host, port, reason } });
    if (reason === notListed) batch.connections.push({ host, port });
  }
}

/** The proxy's counts at the end of the part of its record that was read. */
function countBefore({ directory, proxyOffset }: IntakeTarget): ProxiedTokens | null {
  const line = lastCount(directory, proxyOffset);
  return line === null ? null : proxiedTokens(line);
}

function noteUsage({ counted, proxied }: Learned, batch: Batch): void {
  Object.assign(batch.patch, { ...counted, usage: withProxied(counted.usage, proxied) });
}

function noteLimit(state: Learned, until: number | null, batch: Batch): void {
  state.limitSeenMs ??= performance.now();
  // A later message about the limit does not clear when it ends.
  state.limitUntil = until ?? state.limitUntil ?? 0;
  batch.patch.limitUntil = state.limitUntil;
}

/** Records what an event proves about mail: an echoed line, or output of the model since. */
function noteMailEvidence(state: Learned, event: StreamEvent, batch: Batch): void {
  const { evidence } = batch;
  if (event.type === 'echo' && event.uuid !== undefined) {
    if (state.turnEnded) beginTurn(state, batch);
    evidence.echoes.push(event.uuid);
    evidence.before ??= batch.messages.length;
    if (evidence.answered === 'after-echo') evidence.answered = 'before-echo';
  } else if (state.target.parser.conversation.length > 0 && modelEvents.includes(event.type))
    evidence.answered = 'after-echo';
}

/** Input after the end of a turn starts another one, whose result is not known yet. */
function beginTurn(state: Learned, batch: Batch): void {
  state.turnBegunMs = performance.now();
  state.turnEnded = false;
  batch.patch.result = null;
}

/** Adds messages to the history, and tracks the turn. */
function follow(state: Learned, event: StreamEvent, batch: Batch): void {
  if (state.target.parser.conversation.length === 0) return;
  if (isFull(state)) {
    // From here on most lines are not read, so the turn's state is unknown.
    state.openTools.clear();
    state.answering = false;
    return;
  }
  followTurn(state, event);
  const said = saidMessage(event);
  if (said === null) return;
  const last = batch.messages.at(-1);
  if (last !== undefined && isPieceOf(said, last)) {
    last.content = kept(state.redaction(last.content + said.content));
    return;
  }
  state.messages++;
  batch.messages.push(isFull(state) ? tooManyMessages : said);
}

/** Tracks running tools, and whether an answer is incomplete. */
function followTurn(state: Learned, event: StreamEvent): void {
  const isPiece = event.type === 'text-delta' || (event.type === 'text' && event.piece === true);
  if (isPiece) state.answering = true;
  else if (event.type === 'text' || event.type === 'tool-call' || event.type === 'result') state.answering = false;
  if (event.type === 'tool-call')
    state.openTools.set(event.id, firstLine(`${event.name} ${event.input}`, toolCharacters));
  else if (event.type === 'tool-result') state.openTools.delete(event.id);
  else if (event.type === 'result') state.openTools.clear();
}
