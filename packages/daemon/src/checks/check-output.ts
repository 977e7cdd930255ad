import { sessionFile } from '@pawl/host/session/session-files';
import type { Tail } from '@pawl/host/output/tail';
import { openTail } from '@pawl/host/output/tail';
import type { Piece } from '@pawl/host/supervise/output';
import { openOutput } from '@pawl/host/supervise/output';
import type { Check } from '@pawl/schema/change';
import { limits } from '@pawl/schema/limit';
import { appendCheckChunk, updateCheck } from '@pawl/store/changes/checks';
import type { Store } from '@pawl/store/store';
import { lstatSync } from 'node:fs';
import type { CheckBounds } from './check-limit.ts';

/** The output of one check step, on its way into the store. */
export type CheckOutput = {
  /**
   * Stores new output, as far as there is room: the start of a check's output. If storing fails, nothing is lost, and
   * the next call continues from there.
   */
  takeIn(options: { final: boolean }): Promise<void>;
  /** Once nothing writes any more: stores the end of what had no room, and notes how much is left out before it. */
  takeEnd(): Promise<void>;
  /** The step's whole output as text, in pieces, whatever is stored of it. */
  text(): AsyncIterable<string>;
  /** How far this step's output is stored, and how much of all steps'. */
  stored(): Pick<Check, 'outputOffset' | 'outputBytes'>;
  close(): void;
};

type OutputSource = {
  store: Store;
  check: Pick<Check, 'id' | 'step' | 'outputOffset' | 'outputBytes'>;
  /** The step's session directory. */
  directory: string;
  secrets: readonly string[];
  bounds: Pick<CheckBounds, 'storedBytes' | 'endBytes'>;
};

/** Pieces stored together, and the offset of the output file they lead to. */
type Batch = { pieces: { offset: number; bytes: Uint8Array }[]; offset: number };

/** Ingests the output of a step from the stored offset. */
export function openCheckOutput({ store, check, directory, secrets, bounds }: OutputSource): CheckOutput {
  const path = sessionFile(directory, 'out');
  let { outputOffset, outputBytes } = check;
  const output = openOutput({
    directory,
    offsets: { stdout: outputOffset },
    secrets,
    room: () => bounds.storedBytes - outputBytes,
    toBatch,
  });

  async function save({ pieces, offset }: Batch): Promise<void> {
    const added = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
    await store.write(async (tx) => {
      const isOpen = await updateCheck(tx, check.id, { outputOffset: offset, outputBytes: outputBytes + added });
      if (!isOpen) return;
      for (const piece of pieces) await appendCheckChunk(tx, check.id, { step: check.step, ...piece });
    });
    outputOffset = offset;
    outputBytes += added;
  }

  async function takeIn({ final }: { final: boolean }): Promise<void> {
    for (let more = true; more; more = output.hasMore()) {
      const batch = await output.collect({ final });
      if (batch === null) return;
      await save(batch);
      output.accept();
    }
  }

  return {
    takeIn,
    async takeEnd() {
      await takeIn({ final: true });
      const size = outputSize(directory);
      if (size <= outputOffset) return;
      const begin = Math.max(outputOffset, size - bounds.endBytes);
      const bytes = await readFrom(openTail({ path, offset: begin, secrets }), bounds.endBytes);
      // Start the end part with a whole line if possible.
      const cut = begin > outputOffset ? bytes.indexOf(0x0a) + 1 : 0;
      const left = begin + cut - outputOffset;
      const pieces: Batch['pieces'] = [{ offset: begin + cut, bytes: bytes.subarray(cut) }];
      if (left > 0) pieces.unshift(note(outputOffset, `${left} bytes are left out here`));
      await save({ pieces, offset: size });
    },
    text: () => textOf(path),
    stored: () => ({ outputOffset, outputBytes }),
    close: () => output.close(),
  };
}

/** A script that opens /dev/stdout by name truncates the file, which is careless but harmless. */
function toBatch(read: readonly Piece[]): Batch | null {
  const last = read.at(-1);
  if (last === undefined) return null;
  const pieces = read.map(({ offset, bytes, damaged }) =>
    damaged === null ? { offset, bytes } : note(0, `the output was ${damaged} here`),
  );
  return { pieces, offset: last.damaged === null ? last.offset + last.bytes.length : 0 };
}

/** The size of a step's output; 0 if its file is gone. */
export function outputSize(directory: string): number {
  const stat = lstatSync(sessionFile(directory, 'out'), { throwIfNoEntry: false });
  return stat?.isFile() === true ? stat.size : 0;
}

/** Reads to the end of a file that nothing writes to any more. */
async function readFrom(tail: Tail, mostBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    while (length < mostBytes) {
      const { bytes } = await tail.read(mostBytes - length, { final: true });
      if (bytes.length === 0) break;
      pieces.push(bytes);
      length += bytes.length;
    }
  } finally {
    tail.close();
  }
  return Buffer.concat(pieces);
}

async function* textOf(path: string): AsyncIterable<string> {
  const tail = openTail({ path, offset: 0 });
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { bytes } = await tail.read(limits.chunkBytes, { final: true });
      if (bytes.length === 0) return;
      yield decoder.decode(bytes, { stream: true });
    }
  } finally {
    tail.close();
  }
}

/** A line of our own in the output. */
function note(offset: number, text: string): { offset: number; bytes: Uint8Array } {
  return { offset, bytes: Buffer.from(`\n[pawl: ${text}]\n`) };
}
