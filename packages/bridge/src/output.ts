import { toJson } from './json.ts';

/** Our stdout. Readers of the agent await `ready`, so a slow reader slows the agent. */
export class Output {
  /** Resolves when the reader has gone or writing fails. */
  readonly closed: Promise<void>;
  readonly #stream = process.stdout;

  constructor() {
    this.closed = new Promise((resolve) => this.#stream.once('error', () => resolve()));
    // A second error must not end the process with a stack trace while it exits.
    this.#stream.on('error', () => {});
  }

  /** Writes a value as one JSON line. */
  writeLine(line: object): void {
    const json = toJson(line);
    if (json !== '') this.writeText(json);
  }

  /** Writes one line that is already JSON. */
  writeText(json: string): void {
    this.#stream.write(`${json}\n`);
  }

  /** Resolves when more may be written. */
  ready(): Promise<void> {
    if (!this.#stream.writableNeedDrain) return Promise.resolve();
    return Promise.race([new Promise<void>((resolve) => this.#stream.once('drain', resolve)), this.closed]);
  }

  /** Resolves when everything written so far is flushed. */
  flush(): Promise<void> {
    return new Promise((resolve) => this.#stream.write('', () => resolve()));
  }
}

/** Logs to stderr. */
export function report(message: string): void {
  process.stderr.write(`bridge: ${message}\n`);
}
