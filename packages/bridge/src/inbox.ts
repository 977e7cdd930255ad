import type { Readable } from 'node:stream';
import type { ApprovalAnswer } from '@pawl/wire/approval-line';
import type { ControlRequest, InputLine, UserTurn } from '@pawl/wire/claude-input';
import { parseInput } from '@pawl/wire/claude-input';
import { bridgeLimits } from './limit.ts';
import { LineSplitter } from './line-splitter.ts';

/**
 * Reads stdin: user turns in order, each once; control requests immediately. Pauses while too many turns wait, so that
 * the pipe slows the sender down.
 */
export class Inbox {
  readonly #stream: Readable;
  readonly #onControl: (control: ControlRequest) => void;
  readonly #onAnswer: (answer: ApprovalAnswer) => void;
  readonly #report: (message: string) => void;
  readonly #splitter = new LineSplitter(bridgeLimits.inputBytes);
  readonly #inputs: UserTurn[] = [];
  readonly #waiting = new Set<() => void>();
  /** The ids of the latest inputs, oldest first. */
  readonly #seen = new Set<string>();
  #ended = false;

  constructor(
    stream: Readable,
    on: { control(control: ControlRequest): void; answer(answer: ApprovalAnswer): void },
    report: (message: string) => void,
  ) {
    this.#stream = stream;
    this.#onControl = on.control;
    this.#onAnswer = on.answer;
    this.#report = report;
    stream.on('data', (chunk: Buffer) => this.#take(this.#splitter.push(chunk)));
    stream.on('end', () => this.#end());
    stream.on('error', (error) => {
      report(`stdin can no longer be read: ${error.message}`);
      this.#end();
    });
  }

  /** The first waiting turn, without removing it; undefined if stdin has ended and none waits. */
  async peek(): Promise<UserTurn | undefined> {
    while (this.#inputs.length === 0 && !this.#ended) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
    return this.#inputs[0];
  }

  /** Removes the first waiting turn. */
  take(): void {
    this.#inputs.shift();
    if (this.#inputs.length < bridgeLimits.queuedInputs) this.#stream.resume();
  }

  #take(lines: ReturnType<LineSplitter['push']>): void {
    for (const line of lines) {
      const parsed: InputLine =
        'text' in line ? parseInput(line.text) : { refused: `it has ${line.oversizedBytes} bytes, which is too many` };
      if ('control' in parsed) this.#onControl(parsed.control);
      else if ('turn' in parsed) this.#admit(parsed.turn);
      else if ('answer' in parsed) this.#onAnswer(parsed.answer);
      else this.#report(`skipped an input line: ${parsed.refused}`);
    }
    if (this.#inputs.length >= bridgeLimits.queuedInputs) this.#stream.pause();
    this.#wake();
  }

  /** Queues an input. Drops a duplicate: its echo has come or will come. */
  #admit(input: UserTurn): void {
    if (input.uuid !== null) {
      if (this.#seen.has(input.uuid)) return;
      this.#seen.add(input.uuid);
      const [oldest] = this.#seen;
      if (this.#seen.size > bridgeLimits.seenInputs && oldest !== undefined) this.#seen.delete(oldest);
    }
    this.#inputs.push(input);
  }

  #end(): void {
    if (this.#ended) return;
    this.#take(this.#splitter.end());
    this.#ended = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
