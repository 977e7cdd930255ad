import type { Readable } from 'node:stream';
import type { ApprovalAnswer } from '@pawl/wire/approval-line';
import type { ControlRequest, UserTurn } from '@pawl/wire/claude-input';
import { parseInput } from '@pawl/wire/claude-input';
import { engineLimits } from '../limit.ts';

export type InboxEvents = {
  onControl(request: ControlRequest): void;
  onAnswer(answer: ApprovalAnswer): void;
  onEnd(): void;
  report(problem: string): void;
};

/** Reads stdin: user turns wait in order; control lines are handed over at once. Reports and skips other lines. */
export class Inbox {
  readonly #stream: Readable;
  readonly #events: InboxEvents;
  readonly #turns: UserTurn[] = [];
  #parts: Buffer[] = [];
  #bytes = 0;
  #ended = false;
  #wake: () => void = () => {};

  constructor(stream: Readable, events: InboxEvents) {
    this.#stream = stream;
    this.#events = events;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('end', () => this.#end());
    stream.on('error', (error) => {
      events.report(`stdin can no longer be read: ${error.message}`);
      this.#end();
    });
  }

  /** The turns that wait, and removes them. */
  drain(): UserTurn[] {
    this.#stream.resume();
    return this.#turns.splice(0);
  }

  /** Resolves when a turn waits: true; or when stdin has ended and none does: false. */
  async wait(): Promise<boolean> {
    while (this.#turns.length === 0 && !this.#ended) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#turns.length > 0;
  }

  #take(chunk: Buffer): void {
    let start = 0;
    for (let newline = chunk.indexOf(10); newline !== -1; newline = chunk.indexOf(10, start)) {
      this.#extend(chunk.subarray(start, newline));
      this.#endLine();
      start = newline + 1;
    }
    this.#extend(chunk.subarray(start));
    if (this.#turns.length >= engineLimits.queuedInputs) this.#stream.pause();
    this.#wake();
  }

  #extend(part: Buffer): void {
    this.#bytes += part.length;
    if (this.#bytes > engineLimits.inputBytes) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  #endLine(): void {
    const bytes = this.#bytes;
    const line = Buffer.concat(this.#parts).toString('utf8');
    this.#parts = [];
    this.#bytes = 0;
    if (bytes > engineLimits.inputBytes) this.#events.report(`skipped an input line of ${bytes} bytes`);
    else if (line.trim() !== '') this.#admit(line);
  }

  #admit(line: string): void {
    const parsed = parseInput(line);
    if ('turn' in parsed) this.#turns.push(parsed.turn);
    else if ('control' in parsed) this.#events.onControl(parsed.control);
    else if ('answer' in parsed) this.#events.onAnswer(parsed.answer);
    else if ('refused' in parsed) this.#events.report(`skipped an input line: ${parsed.refused}`);
  }

  #end(): void {
    if (this.#ended) return;
    this.#endLine();
    this.#ended = true;
    this.#events.onEnd();
    this.#wake();
  }
}
