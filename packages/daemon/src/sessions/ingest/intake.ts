import { rebuildCarry } from '@pawl/host/output/line-carry';
import { createLineSplitter } from '@pawl/host/output/lines';
import type { LineSplitter } from '@pawl/host/output/lines';
import type { Output, Piece } from '@pawl/host/supervise/output';
import { openOutput } from '@pawl/host/supervise/output';
import { limits } from '@pawl/schema/limit';
import type { Chunk } from '@pawl/schema/record';
import type { LiveState } from '@pawl/schema/status';
import { join } from 'node:path';
import type { Batch, IntakeTarget } from './batch.ts';
import { emptyBatch, isEmpty } from './batch.ts';
import type { Learned } from './learn.ts';
import { beginLearning, learnLine, learnProxyLine, noteDamage, worthReading } from './learn.ts';
import type { ProxyRecord } from './proxy-record.ts';
import { openProxyRecord } from './proxy-record.ts';

/** The running tools of an agent, and whether its answer is incomplete. */
export type TurnState = { tools: string[]; answering: boolean };

/**
 * How long a session has been silent without a running tool, in a turn and after its end; how long ago its provider
 * reported a limit, 0 if not; and when it started another turn by itself, by the monotonic clock, 0 if not.
 */
export type Pace = { silentMs: number; lingeringMs: number; limitedMs: number; turnBegunMs: number };

export type Intake = Output<Batch> & {
  readonly target: IntakeTarget;
  live(): LiveState | undefined;
  turn(): TurnState;
  /** The provider has ended its turn. */
  turnEnded(): boolean;
  pace(): Pace;
};

/** The read position of one session's output. */
type Reading = {
  readonly learned: Learned;
  readonly splitter: LineSplitter;
  readonly proxyRecord: ProxyRecord;
  /** The offset of the next chunk of each stream. Continues even if a file was damaged. */
  readonly offsets: Record<Chunk['stream'], number>;
  /** True while the output read so far ends with a newline. */
  whole: boolean;
  lastOutputMs: number;
};

const newline = 0x0a;

/** Ingests one session's output from the stored offset. */
export function openIntake(target: IntakeTarget): Intake {
  const { directory, offsets, secrets } = target;
  const learned = beginLearning(target);
  const reading: Reading = {
    learned,
    splitter: splitterAt(join(directory, 'out'), offsets.stdout),
    proxyRecord: openProxyRecord(directory, target.proxyOffset),
    offsets: { ...offsets },
    whole: offsets.stdout === 0,
    lastOutputMs: performance.now(),
  };
  const output = openOutput({
    directory,
    offsets,
    secrets,
    toBatch: (pieces, { isComplete }) => batchOf(reading, pieces, isComplete),
  });
  return {
    ...output,
    target,
    live: () => learned.live,
    turn: () => ({ tools: [...learned.openTools.values()], answering: learned.answering }),
    turnEnded: () => learned.turnEnded,
    pace: () => paceOf(reading),
  };
}

/** Learns from new output of both streams; null if there is none. */
function batchOf(reading: Reading, pieces: readonly Piece[], isComplete: boolean): Batch | null {
  const { learned, splitter } = reading;
  const batch = emptyBatch();
  for (const piece of pieces) takePiece(reading, piece, batch);
  const finished = batch.messages.length;
  if (isComplete) for (const line of splitter.end()) learnLine(learned, line, batch);
  batch.unfinished = batch.messages.length - finished;
  takeProxyRecord(reading, batch);
  return isEmpty(batch) ? null : batch;
}

/** Learns from what the proxy has recorded since. */
function takeProxyRecord({ learned, proxyRecord }: Reading, batch: Batch): void {
  const read = proxyRecord.read();
  if (read === null) return;
  for (const line of read.lines) learnProxyLine(learned, line, batch);
  batch.proxyOffset = read.offset;
}

function takePiece(reading: Reading, { stream, bytes, damaged }: Piece, batch: Batch): void {
  const { learned, splitter, offsets } = reading;
  if (damaged !== null) {
    noteDamage(learned, batch, stream, `the output file was ${damaged}`);
    if (stream === 'stdout') for (const line of splitter.end()) learnLine(learned, line, batch);
  }
  if (bytes.length === 0) return;
  batch.chunks.push({ stream, offset: offsets[stream], bytes });
  batch.bytes += bytes.length;
  offsets[stream] += bytes.length;
  reading.lastOutputMs = performance.now();
  if (stream === 'stdout') for (const line of splitter.push(linesOf(reading, bytes))) learnLine(learned, line, batch);
}

/** All bytes, or only the last line if no line before it contains a fact. Only drops whole lines. */
function linesOf(reading: Reading, bytes: Uint8Array): Uint8Array {
  const wholeBefore = reading.whole;
  reading.whole = bytes.at(-1) === newline;
  return wholeBefore && reading.whole ? worthReading(reading.learned, bytes) : bytes;
}

function paceOf({ learned, lastOutputMs }: Reading): Pace {
  const { turnEnded, openTools, limitSeenMs, turnBegunMs } = learned;
  const quietMs = openTools.size > 0 ? 0 : performance.now() - lastOutputMs;
  return {
    silentMs: turnEnded ? 0 : quietMs,
    lingeringMs: turnEnded ? quietMs : 0,
    limitedMs: limitSeenMs === null ? 0 : performance.now() - limitSeenMs,
    turnBegunMs,
  };
}

/** A splitter positioned at the end of the stored output, possibly in the middle of a line. */
function splitterAt(path: string, offset: number): LineSplitter {
  const maxLineBytes = limits.lineBytes;
  if (offset === 0) return createLineSplitter({ maxLineBytes });
  return createLineSplitter({ maxLineBytes, carry: rebuildCarry({ path, offset, maxLineBytes }) });
}
