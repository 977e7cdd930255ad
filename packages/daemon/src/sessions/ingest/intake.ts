import { liveState } from '@pawl/core/sessions/live';
import { cutText, firstLine } from '@pawl/core/shorten';
import type { OutputParser } from '@pawl/core/port/provider';
import type { UsageState } from '@pawl/core/accounts/usage';
import { usageAfter } from '@pawl/core/accounts/usage';
import { rebuildCarry } from '@pawl/host/output/line-carry';
import { createLineSplitter } from '@pawl/host/output/lines';
import type { LineSplitter } from '@pawl/host/output/lines';
import { createRedaction } from '@pawl/host/output/secret-mask';
import type { Tail } from '@pawl/host/output/tail';
import { openTail } from '@pawl/host/output/tail';
import type { NewEvent } from '@pawl/schema/event';
import { limits } from '@pawl/schema/limit';
import type { Agent, Chunk, Message, Session, Usage } from '@pawl/schema/record';
import type { LiveState } from '@pawl/schema/status';
import type { StreamEvent } from '@pawl/schema/stream-event';
import type { SessionPatch } from '@pawl/store/sessions/sessions';
import { join } from 'node:path';
import type { Heard } from '../../mail/evidence.ts';

/** A session whose output is taken in. */
export type IntakeTarget = {
  agent: Agent;
  session: Session;
  directory: string;
  parser: OutputParser;
  /** What the provider had reported of the conversation before this session took it up. */
  reportedBefore: Usage | null;
  /** What must not stand in its output: it is masked there. */
  secrets: readonly string[];
  /** How many messages of this session are in the history, and which tools of it run: by call id, what they do. */
  messages: number;
  openTools: Map<string, string>;
  offsets: Record<Chunk['stream'], number>;
};

/** What one look at the output files gave: to be stored in one transaction, then accepted. */
export type Batch = {
  chunks: { stream: Chunk['stream']; offset: number; bytes: Uint8Array }[];
  patch: SessionPatch;
  messages: SaidMessage[];
  /** How many of the last messages come from a line without an end: after a crash it is read, and so said, again. */
  unfinished: number;
  events: NewEvent[];
  /** What it shows about mail. */
  heard: Heard;
  bytes: number;
};

/** Something that became part of the agent's history. */
export type SaidMessage = Pick<Message, 'kind' | 'content' | 'data'>;

/** What an agent is in the middle of: tools that run, and an answer of which only a part is there. */
export type TurnState = { tools: string[]; answering: boolean };

/**
 * How long a session has printed nothing though no tool of it runs, and how long ago its provider reported a limit, 0 when it
 * does not; and when it began another turn by itself, by the clock that only goes forward, 0 when it did not.
 */
export type Pace = { silentMs: number; limitedMs: number; turnBegunMs: number };

export type Intake = {
  readonly target: IntakeTarget;
  /** Reads what has been added, or gives the last batch again when it was not accepted. Null: nothing new. */
  collect(options: { final: boolean }): Promise<Batch | null>;
  /** The batch is durable; the next one may be read. */
  accept(): void;
  /** True when more was there than one batch takes. */
  hasMore(): boolean;
  /** When an unfinished line is due, in milliseconds from now. */
  dueInMs(): number | null;
  live(): LiveState | undefined;
  turn(): TurnState;
  /** The provider has said that its turn ended. */
  turnEnded(): boolean;
  pace(): Pace;
  close(): void;
};

type Source = { stream: Chunk['stream']; tail: Tail; stored: number };

/** Takes in one session's output from where the store has it up to. */
export function openIntake(target: IntakeTarget): Intake {
  const { agent, session, directory } = target;
  const about = { projectId: agent.projectId, agentId: agent.id };
  const sources: Source[] = [
    {
      stream: 'stdout',
      tail: openTail({ path: join(directory, 'out'), offset: target.offsets.stdout, secrets: target.secrets }),
      stored: target.offsets.stdout,
    },
    {
      stream: 'stderr',
      tail: openTail({ path: join(directory, 'err'), offset: target.offsets.stderr, secrets: target.secrets }),
      stored: target.offsets.stderr,
    },
  ];
  const redaction = createRedaction(target.secrets);
  const splitter = splitterAt(join(directory, 'out'), target.offsets.stdout);
  let { providerSessionId, limitUntil } = session;
  let counted: UsageState = { usage: session.usage, reported: session.reported };
  let lastOutputMs = performance.now();
  let limitSeenMs: number | null = session.limitUntil === null ? null : performance.now();
  // After a restart nobody remembers the last line, but it is known that there was one.
  let live: LiveState | undefined =
    target.offsets.stdout > 0 ? { live: session.result === null ? 'working' : 'idle', detail: '' } : undefined;
  // A process has one conversation: its first word on it counts, whatever it prints later.
  let identified = target.offsets.stdout > 0 && providerSessionId !== null;
  // True while what was read so far ends with a line's end.
  let whole = target.offsets.stdout === 0;
  let turnEnded = session.result !== null;
  let turnBegunMs = 0;
  const openTools = new Map(target.openTools);
  let answering = false;
  let messages = target.messages;
  let pending: Batch | null = null;
  let more = false;
  let due: number | null = null;

  function learn(event: StreamEvent, batch: Batch): void {
    live = liveState(event) ?? live;
    // Whoever works on has got over its limit.
    if (event.type === 'tool-call' || event.type === 'text-delta') limitSeenMs = null;
    follow(event, batch);
    hear(event, batch);
    if (event.type === 'session') {
      if (identified) return;
      identified = true;
      if (event.providerSessionId === providerSessionId) return;
      providerSessionId = event.providerSessionId;
      batch.patch.providerSessionId = providerSessionId;
      batch.events.push({ type: 'session.identified', ...about, data: { no: session.no, providerSessionId } });
    } else if (event.type === 'usage') {
      counted = usageAfter(counted, event, target.reportedBefore);
      Object.assign(batch.patch, counted);
    } else if (event.type === 'limit') {
      limitSeenMs ??= performance.now();
      // A later word on the limit does not take back when it ends.
      limitUntil = event.until ?? limitUntil ?? 0;
      batch.patch.limitUntil = limitUntil;
    } else if (event.type === 'result') {
      // A turn that ended well was not stopped by a limit, whatever was said about one on the way.
      if (event.ok && limitUntil !== null) {
        limitUntil = null;
        limitSeenMs = null;
        batch.patch.limitUntil = null;
      }
      batch.patch.result = { ok: event.ok, text: event.text.slice(0, resultCharacters), fault: event.fault };
      turnEnded = true;
    }
  }

  /** Notes what an event shows about mail: a line that was taken in, or that the model has spoken since. */
  function hear(event: StreamEvent, batch: Batch): void {
    const { heard } = batch;
    if (event.type === 'echo' && event.uuid !== undefined) {
      // It goes on with what came after its last word: that is another turn.
      if (turnEnded) turnBegunMs = performance.now();
      turnEnded = false;
      heard.echoes.push(event.uuid);
      heard.before ??= batch.messages.length;
      if (heard.answered === 'after-echo') heard.answered = 'before-echo';
    } else if (target.parser.conversation.length > 0 && modelEvents.includes(event.type)) heard.answered = 'after-echo';
  }

  /** Adds to the history what was said and done, and notes what the agent is in the middle of. */
  function follow(event: StreamEvent, batch: Batch): void {
    if (target.parser.conversation.length === 0) return;
    if (messages > limits.messagesPerSession) {
      // From here on most lines are not read, so what it is in the middle of is not known.
      openTools.clear();
      answering = false;
      return;
    }
    const isPiece = event.type === 'text-delta' || (event.type === 'text' && event.piece === true);
    if (isPiece) answering = true;
    else if (event.type === 'text' || event.type === 'tool-call' || event.type === 'result') answering = false;
    if (event.type === 'tool-call') openTools.set(event.id, firstLine(`${event.name} ${event.input}`, toolCharacters));
    else if (event.type === 'tool-result') openTools.delete(event.id);
    else if (event.type === 'result') openTools.clear();
    const said = saidMessage(event);
    if (said === null) return;
    const last = batch.messages.at(-1);
    if (last !== undefined && isPieceOf(said, last)) {
      last.content = kept(redaction(last.content + said.content));
      return;
    }
    messages++;
    batch.messages.push(messages > limits.messagesPerSession ? tooManyMessages : said);
  }

  async function takeFrom(source: Source, batch: Batch, final: boolean): Promise<void> {
    let offset = source.stored;
    while (batch.bytes < limits.tickBytes) {
      const read = await source.tail.read(limits.chunkBytes, { final });
      if (read.damaged !== null) {
        noteDamage(batch, source.stream, `the output file was ${read.damaged}`);
        if (source.stream === 'stdout') for (const line of splitter.end()) learnLine(line, batch);
      }
      if (read.dueInMs !== null) due = Math.min(due ?? Infinity, read.dueInMs);
      if (read.bytes.length > 0) {
        batch.chunks.push({ stream: source.stream, offset, bytes: read.bytes });
        batch.bytes += read.bytes.length;
        lastOutputMs = performance.now();
        offset += read.bytes.length;
        if (source.stream === 'stdout')
          for (const line of splitter.push(worthReading(read.bytes))) learnLine(line, batch);
      }
      if (!read.more) return;
    }
    more = true;
  }

  /** All of it, or only the last line when no line before that has a fact to tell. Only whole lines are ever left out. */
  function worthReading(bytes: Uint8Array): Uint8Array {
    const wholeBefore = whole;
    whole = bytes.at(-1) === newline;
    if (!identified || !wholeBefore || !whole) return bytes;
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const { telling, conversation } = target.parser;
    const texts = messages > limits.messagesPerSession ? telling : [...telling, ...conversation];
    if (texts.some((text) => buffer.includes(text))) return bytes;
    return buffer.subarray(buffer.lastIndexOf(newline, buffer.length - 2) + 1);
  }

  function learnLine(line: { text: string; oversized: boolean }, batch: Batch): void {
    if (line.oversized)
      noteDamage(batch, 'stdout', `a line is longer than ${limits.lineBytes} bytes; it is stored but not read`);
    else if (line.text !== '') for (const event of eventsOf(line.text)) learn(event, batch);
  }

  /** JSON may spell a secret with escapes: only what it says can be compared. */
  function eventsOf(line: string): StreamEvent[] {
    const events = target.parser.parse(line);
    return line.includes('\\u') ? events.map((event) => cleanEvent(event, redaction)) : events;
  }

  function noteDamage(batch: Batch, stream: Chunk['stream'], reason: string): void {
    batch.events.push({ type: 'session.damaged', ...about, data: { no: session.no, stream, reason } });
  }

  return {
    target,
    async collect({ final }) {
      if (pending !== null) return pending;
      const heard: Heard = { echoes: [], answered: 'no', before: null };
      const batch: Batch = { chunks: [], patch: {}, messages: [], unfinished: 0, events: [], heard, bytes: 0 };
      more = false;
      due = null;
      try {
        for (const source of sources) await takeFrom(source, batch, final);
        const whole = batch.messages.length;
        if (final && !more) for (const line of splitter.end()) learnLine(line, batch);
        batch.unfinished = batch.messages.length - whole;
      } catch (error) {
        // What was read is kept, and stored with this batch; the failure will show again.
        if (isEmpty(batch)) throw error;
        more = true;
      }
      // The other stream is first next time, so that a loud one does not silence it.
      sources.reverse();
      if (isEmpty(batch)) return null;
      pending = batch;
      return batch;
    },
    accept() {
      for (const source of sources) {
        for (const chunk of pending?.chunks ?? [])
          if (chunk.stream === source.stream) source.stored += chunk.bytes.length;
      }
      pending = null;
    },
    hasMore: () => more,
    dueInMs: () => due,
    live: () => live,
    turn: () => ({ tools: [...openTools.values()], answering }),
    turnEnded: () => turnEnded,
    pace: () => ({
      silentMs: turnEnded || openTools.size > 0 ? 0 : performance.now() - lastOutputMs,
      limitedMs: limitSeenMs === null ? 0 : performance.now() - limitSeenMs,
      turnBegunMs,
    }),
    close() {
      for (const source of sources) source.tail.close();
    },
  };
}

function isEmpty(batch: Batch): boolean {
  const { bytes, messages, events } = batch;
  return bytes === 0 && messages.length === 0 && events.length === 0 && Object.keys(batch.patch).length === 0;
}

/** What only a model that has read its input does. */
const modelEvents: readonly StreamEvent['type'][] = ['text', 'text-delta', 'thinking', 'tool-call'];

/** How much of a tool call is told to those who wait for it. */
const toolCharacters = 120;

const tooManyMessages: SaidMessage = {
  kind: 'system',
  content: 'More was said in this session than its history keeps; `pawl logs` has all of it.',
  data: null,
};

/** What an event adds to the history; null when it is no part of it. */
function saidMessage(event: StreamEvent): SaidMessage | null {
  switch (event.type) {
    case 'text':
      return { kind: 'assistant', content: kept(event.text), data: event.piece === true ? { piece: true } : null };
    case 'tool-call':
      return {
        kind: 'tool_call',
        content: kept(`${event.name} ${event.input}`),
        data: { toolId: event.id, name: event.name },
      };
    case 'tool-result':
      return { kind: 'tool_result', content: kept(event.text), data: { toolId: event.id, isError: event.isError } };
    default:
      return null;
  }
}

/** An event in whose texts no secret stands. */
function cleanEvent(event: StreamEvent, clean: (text: string) => string): StreamEvent {
  const entries = Object.entries(event).map(([name, value]) => [
    name,
    typeof value === 'string' ? clean(value) : value,
  ]);
  return Object.fromEntries(entries) as StreamEvent;
}

/** Whether something that was said goes on with what was said last: both are pieces of one text. */
export function isPieceOf(said: SaidMessage, last: SaidMessage): boolean {
  return [said, last].every(({ kind, data }) => kind === 'assistant' && data?.['piece'] === true);
}

/** As much of a text as the history has room for. */
export function kept(text: string): string {
  return cutText(text, limits.messageCharacters);
}

const newline = 0x0a;

/** How much of a provider's last word is kept as a fact; the chunks have all of it. */
const resultCharacters = 8_192;

/** A splitter that stands where the stored output ends, in the middle of a line if need be. */
function splitterAt(path: string, offset: number): LineSplitter {
  const maxLineBytes = limits.lineBytes;
  if (offset === 0) return createLineSplitter({ maxLineBytes });
  return createLineSplitter({ maxLineBytes, carry: rebuildCarry({ path, offset, maxLineBytes }) });
}
