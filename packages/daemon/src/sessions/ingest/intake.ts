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
import { beginLearning, learnLine, noteDamage, worthReading } from './learn.ts';

/** The tools of an agent that run, and whether only a part of its answer is there. */
export type TurnState = { tools: string[]; answering: boolean };

/**
 * How long a session has printed nothing though no tool of it runs, and how long ago its provider reported a limit, 0 when it
 * does not; and when it began another turn by itself, by the clock that only goes forward, 0 when it did not.
 */
export type Pace = { silentMs: number; limitedMs: number; turnBegunMs: number };

export type Intake = Output<Batch> & {
  readonly target: IntakeTarget;
  live(): LiveState | undefined;
  turn(): TurnState;
  /** The provider has said that its turn ended. */
  turnEnded(): boolean;
  pace(): Pace;
};

/** How far the output of one session is read. */
type Reading = {
  readonly learned: Learned;
  readonly splitter: LineSplitter;
  /** Where the next chunk of each stream begins. It goes on although a file was damaged. */
  readonly offsets: Record<Chunk['stream'], number>;
  /** True while what was read so far ends with a line's end. */
  whole: boolean;
  lastOutputMs: number;
};

const newline = 0x0a;

/** Takes in one session's output from where the store has it up to. */
export function openIntake(target: IntakeTarget): Intake {
  const { directory, offsets, secrets } = target;
  const learned = beginLearning(target);
  const reading: Reading = {
    learned,
    splitter: splitterAt(join(directory, 'out'), offsets.stdout),
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

/** Learns from what was added to both streams; null when that is nothing. */
function batchOf(reading: Reading, pieces: readonly Piece[], isComplete: boolean): Batch | null {
  const { learned, splitter } = reading;
  const batch = emptyBatch();
  for (const piece of pieces) takePiece(reading, piece, batch);
  const finished = batch.messages.length;
  if (isComplete) for (const line of splitter.end()) learnLine(learned, line, batch);
  batch.unfinished = batch.messages.length - finished;
  return isEmpty(batch) ? null : batch;
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

/** All bytes, or only the last line when no line before that has a fact to tell. Only whole lines are ever left out. */
function linesOf(reading: Reading, bytes: Uint8Array): Uint8Array {
  const wholeBefore = reading.whole;
  reading.whole = bytes.at(-1) === newline;
  return wholeBefore && reading.whole ? worthReading(reading.learned, bytes) : bytes;
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
