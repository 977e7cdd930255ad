import { toJson } from './json.ts';

/** The stdout of this process. Whoever reads the agent waits for `ready` in between, so a slow reader slows the agent. */
export class Output {
  /** Settles when the reader has gone or the output cannot be written any more. */
  readonly closed: Promise<void>;
  readonly #stream = process.stdout;

  constructor() {
    this.closed = new Promise((resolve) => this.#stream.once('error', () => resolve()));
    // A second error must not end the process with a stack trace while it is leaving.
    this.#stream.on('error', () => {});
  }

  /** Writes a value as one JSON line. */
  writeLine(line: object): void {
    const json = toJson(line);
    if (json !== '') this.writeText(json);
  }

  /** Writes one line that is JSON already. */
  writeText(json: string): void {
    this.#stream.write(`${json}\n`);
  }

  /** Resolves when more may be written. */
  ready(): Promise<void> {
    if (!this.#stream.writableNeedDrain) return Promise.resolve();
    return Promise.race([new Promise<void>((resolve) => this.#stream.once('drain', resolve)), this.closed]);
  }

  /** Resolves when everything written so far has left this process. */
  flush(): Promise<void> {
    return new Promise((resolve) => this.#stream.write('', () => resolve()));
  }
}

/** Says something to the person or program that started this process. */
export function report(message: string): void {
  process.stderr.write(`bridge: ${message}\n`);
}
