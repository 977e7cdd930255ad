/** A line of the agent, or the length of one that is too long to read. */
export type InnerLine = { text: string } | { oversizedBytes: number };

/**
 * Splits bytes into lines at LF only; other separators are legal inside JSON. Holds at most `lineBytes`: of a longer
 * line it keeps only the length.
 */
export class LineSplitter {
  readonly #lineBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(lineBytes: number) {
    this.#lineBytes = lineBytes;
  }

  /** The lines that end in this chunk. */
  *push(chunk: Buffer): Generator<InnerLine> {
    let start = 0;
    for (let newline = chunk.indexOf(10); newline !== -1; newline = chunk.indexOf(10, start)) {
      this.#extend(chunk.subarray(start, newline));
      yield* this.end();
      start = newline + 1;
    }
    this.#extend(chunk.subarray(start));
  }

  /** The rest after the last LF, unless blank. */
  *end(): Generator<InnerLine> {
    const bytes = this.#bytes;
    const text = bytes > this.#lineBytes ? '' : Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#bytes = 0;
    if (bytes > this.#lineBytes) yield { oversizedBytes: bytes };
    else if (text.trim() !== '') yield { text };
  }

  #extend(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#lineBytes) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }
}
