import { rebuildCarry } from '@pawl/host/output/line-carry';
import { createLineSplitter } from '@pawl/host/output/lines';
import type { LineSplitter } from '@pawl/host/output/lines';
import type { Tail } from '@pawl/host/output/tail';
import { openTail } from '@pawl/host/output/tail';
import { limits } from '@pawl/schema/limit';
import type { Chunk } from '@pawl/schema/record';
import type { LiveState } from '@pawl/schema/status';
import { join } from 'node:path';
import type { Batch, IntakeTarget } from './batch.ts';
import { emptyBatch, isEmpty } from './batch.ts';
import type { Learned } from './learn.ts';
import { beginLearning, learnLine, noteDamage, worthReading } from './learn.ts';

/** The tools of an agent that run, and whether only a part of its answer is there. */
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

/** How far the output of one session is read. */
type Reading = {
  readonly learned: Learned;
  readonly sources: Source[];
  readonly splitter: LineSplitter;
  /** True while what was read so far ends with a line's end. */
  whole: boolean;
  lastOutputMs: number;
  /** A batch that was not accepted yet. */
  pending: Batch | null;
  more: boolean;
  due: number | null;
};

const newline = 0x0a;

/** Takes in one session's output from where the store has it up to. */
export function openIntake(target: IntakeTarget): Intake {
  const { directory, offsets, secrets } = target;
  const sourceOf = (stream: Chunk['stream'], file: string): Source => ({
    stream,
    tail: openTail({ path: join(directory, file), offset: offsets[stream], secrets }),
    stored: offsets[stream],
  });
  const learned = beginLearning(target);
  const reading: Reading = {
    learned,
    sources: [sourceOf('stdout', 'out'), sourceOf('stderr', 'err')],
    splitter: splitterAt(join(directory, 'out'), offsets.stdout),
    whole: offsets.stdout === 0,
    lastOutputMs: performance.now(),
    pending: null,
    more: false,
    due: null,
  };
  return {
    target,
    async collect({ final }) {
      reading.pending ??= await collect(reading, final);
      return reading.pending;
    },
    accept: () => accept(reading),
    hasMore: () => reading.more,
    dueInMs: () => reading.due,
    live: () => learned.live,
    turn: () => ({ tools: [...learned.openTools.values()], answering: learned.answering }),
    turnEnded: () => learned.turnEnded,
    pace: () => paceOf(reading),
    close() {
      for (const source of reading.sources) source.tail.close();
    },
  };
}

/** Reads what has been added to both streams; null when that is nothing. */
async function collect(reading: Reading, final: boolean): Promise<Batch | null> {
  const { learned, sources, splitter } = reading;
  const batch = emptyBatch();
  reading.more = false;
  reading.due = null;
  try {
    for (const source of sources) await takeFrom(reading, source, batch, final);
    const finished = batch.messages.length;
    if (final && !reading.more) for (const line of splitter.end()) learnLine(learned, line, batch);
    batch.unfinished = batch.messages.length - finished;
  } catch (error) {
    // What was read is kept, and stored with this batch; the failure will show again.
    if (isEmpty(batch)) throw error;
    reading.more = true;
  }
  // The other stream is first next time, so that a loud one does not silence it.
  sources.reverse();
  return isEmpty(batch) ? null : batch;
}

async function takeFrom(reading: Reading, source: Source, batch: Batch, final: boolean): Promise<void> {
  const { learned, splitter } = reading;
  let offset = source.stored;
  while (batch.bytes < limits.tickBytes) {
    const read = await source.tail.read(limits.chunkBytes, { final });
    if (read.damaged !== null) {
      noteDamage(learned, batch, source.stream, `the output file was ${read.damaged}`);
      if (source.stream === 'stdout') for (const line of splitter.end()) learnLine(learned, line, batch);
    }
    if (read.dueInMs !== null) reading.due = Math.min(reading.due ?? Infinity, read.dueInMs);
    if (read.bytes.length > 0) {
      batch.chunks.push({ stream: source.stream, offset, bytes: read.bytes });
      batch.bytes += read.bytes.length;
      reading.lastOutputMs = performance.now();
      offset += read.bytes.length;
      if (source.stream === 'stdout')
        for (const line of splitter.push(linesOf(reading, read.bytes))) learnLine(learned, line, batch);
    }
    if (!read.more) return;
  }
  reading.more = true;
}

/** All bytes, or only the last line when no line before that has a fact to tell. Only whole lines are ever left out. */
function linesOf(reading: Reading, bytes: Uint8Array): Uint8Array {
  const wholeBefore = reading.whole;
  reading.whole = bytes.at(-1) === newline;
  return wholeBefore && reading.whole ? worthReading(reading.learned, bytes) : bytes;
}

function accept(reading: Reading): void {
  for (const source of reading.sources) {
    for (const chunk of reading.pending?.chunks ?? [])
      if (chunk.stream === source.stream) source.stored += chunk.bytes.length;
  }
  reading.pending = null;
}

function paceOf({ learned, lastOutputMs }: Reading): Pace {
  const { turnEnded, openTools, limitSeenMs, turnBegunMs } = learned;
  return {
    silentMs: turnEnded || openTools.size > 0 ? 0 : performance.now() - lastOutputMs,
    limitedMs: limitSeenMs === null ? 0 : performance.now() - limitSeenMs,
    turnBegunMs,
  };
}

/** A splitter that stands where the stored output ends, in the middle of a line if need be. */
function splitterAt(path: string, offset: number): LineSplitter {
  const maxLineBytes = limits.lineBytes;
  if (offset === 0) return createLineSplitter({ maxLineBytes });
  return createLineSplitter({ maxLineBytes, carry: rebuildCarry({ path, offset, maxLineBytes }) });
}
