import { limits } from '@pawl/schema/limit';
import type { Tail, TailDamage } from '../output/tail.ts';
import { openTail } from '../output/tail.ts';
import { sessionFile } from '../session/session-files.ts';

export type OutputStream = 'stdout' | 'stderr';

/** Bytes of a stream, or the news that its file was damaged, from where it is read from its beginning. */
export type Piece = { stream: OutputStream; offset: number; bytes: Uint8Array; damaged: TailDamage | null };

export type OutputOptions<Batch> = {
  directory: string;
  /** The offset at which reading begins in each stream: everything before it is stored. */
  offsets: Partial<Record<OutputStream, number>>;
  /** Secrets to mask in the files. */
  secrets: readonly string[];
  /** How many bytes its owner still takes. */
  room?: () => number;
  /** Turns pieces into what is stored in one transaction; null if that is nothing. Called once per batch. */
  toBatch(pieces: readonly Piece[], end: { isComplete: boolean }): Batch | null;
};

/**
 * Reads the output of a process exactly once: a batch is given again until its owner has stored it together with the
 * offsets, so that after a crash another reader continues where the store ends.
 */
export type Output<Batch> = {
  /** Reads what was added, or gives the last batch again if it was not accepted. Null: nothing new. */
  collect(options: { final: boolean }): Promise<Batch | null>;
  /** The batch is durable; the next one may be read. */
  accept(): void;
  /** True if more was there than one batch takes. */
  hasMore(): boolean;
  /** When an unfinished line is due, in milliseconds from now. */
  dueInMs(): number | null;
  close(): void;
};

const files = { stdout: 'out', stderr: 'err' } as const;

type Source = { stream: OutputStream; tail: Tail };

export function openOutput<Batch>(options: OutputOptions<Batch>): Output<Batch> {
  const { directory, offsets, secrets, room = () => Infinity } = options;
  const sources = (['stdout', 'stderr'] as const).flatMap((stream): Source[] => {
    const offset = offsets[stream];
    if (offset === undefined) return [];
    return [{ stream, tail: openTail({ path: sessionFile(directory, files[stream]), offset, secrets }) }];
  });
  let pending: Batch | null = null;
  let last: Reading = { pieces: [], bytes: 0, more: false, due: null };

  async function read(final: boolean): Promise<Batch | null> {
    const reading: Reading = { pieces: [], bytes: 0, more: false, due: null };
    last = reading;
    let failure: { error: unknown } | null = null;
    try {
      const mostBytes = room();
      for (const source of sources) await readSource(reading, source, { final, mostBytes });
    } catch (error) {
      // Pieces that were read are stored with this batch; the failure will show again.
      failure = { error };
      reading.more = true;
    }
    // The other stream is first next time, so that a loud one does not silence it.
    sources.reverse();
    const isComplete = final && !reading.more;
    const batch =
      failure !== null && reading.pieces.length === 0 ? null : options.toBatch(reading.pieces, { isComplete });
    if (batch === null && failure !== null) throw failure.error;
    return batch;
  }

  return {
    async collect({ final }) {
      pending ??= await read(final);
      return pending;
    },
    accept() {
      pending = null;
    },
    hasMore: () => last.more,
    dueInMs: () => last.due,
    close() {
      for (const { tail } of sources) tail.close();
    },
  };
}

type Reading = { pieces: Piece[]; bytes: number; more: boolean; due: number | null };

async function readSource(
  reading: Reading,
  { stream, tail }: Source,
  { final, mostBytes }: { final: boolean; mostBytes: number },
): Promise<void> {
  while (reading.bytes < Math.min(limits.tickBytes, mostBytes)) {
    const read = await tail.read(Math.min(limits.chunkBytes, mostBytes - reading.bytes), { final });
    const { offset, bytes, damaged } = read;
    if (damaged !== null || bytes.length > 0) reading.pieces.push({ stream, offset, bytes, damaged });
    if (read.dueInMs !== null) reading.due = Math.min(reading.due ?? Infinity, read.dueInMs);
    reading.bytes += bytes.length;
    if (!read.more) return;
  }
  // Without room nothing more is read.
  if (reading.bytes < mostBytes) reading.more = true;
}
