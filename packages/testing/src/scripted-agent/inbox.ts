import type { Readable } from 'node:stream';
import { PawlError } from '@pawl/schema/error';
import type { ApprovalAnswer } from '@pawl/wire/approval-line';
import { parseInput } from '@pawl/wire/claude-input';
import type { Permissions } from './permissions.ts';
import { isSessionId } from './arguments.ts';
import { scriptedLimits } from './limit.ts';

/** Reads all of stdin as one prompt. */
export async function readText(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > scriptedLimits.inputBytes) {
      throw new PawlError('too_large', `The prompt is larger than ${scriptedLimits.inputBytes} bytes.`, {
        hint: 'Put the text into a file and name the file in the prompt.',
      });
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A received user turn. `uuid` is the sender's id for it. */
export type UserTurn = { prompt: string; uuid: string | null };

/**
 * Reads user turns as JSON lines from stdin, in order. Calls `admit` as soon as each arrives, whatever is being played,
 * and queues it if that returns true. Reports and skips other lines. Pauses while too many turns wait, so that the pipe
 * slows the sender down.
 */
export class Inbox {
  readonly #stream: Readable;
  readonly #report: (message: string) => void;
  readonly #admit: (turn: UserTurn) => boolean;
  readonly #permissions: Pick<Permissions, 'answer' | 'close'> | null;
  readonly #prompts: string[] = [];
  #waiting: ((prompt: string | undefined) => void) | undefined;
  #ended = false;
  #line: Buffer[] = [];
  #lineBytes = 0;

  constructor(
    stream: Readable,
    report: (message: string) => void,
    admit: (turn: UserTurn) => boolean = () => true,
    permissions: Pick<Permissions, 'answer' | 'close'> | null = null,
  ) {
    this.#permissions = permissions;
    this.#stream = stream;
    this.#report = report;
    this.#admit = admit;
    stream.on('data', (chunk: Buffer) => this.#take(chunk));
    stream.on('end', () => this.#end());
    stream.on('error', (error) => {
      report(`stdin cannot be read any more: ${error.message}`);
      this.#end();
    });
  }

  /** The next user turn, or undefined if stdin has ended. */
  next(): Promise<string | undefined> {
    const prompt = this.#prompts.shift();
    if (this.#prompts.length < scriptedLimits.queuedPrompts) this.#stream.resume();
    if (prompt !== undefined || this.#ended) return Promise.resolve(prompt);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  #take(chunk: Buffer): void {
    let start = 0;
    for (let newline = chunk.indexOf(10); newline !== -1; newline = chunk.indexOf(10, start)) {
      this.#extendLine(chunk.subarray(start, newline));
      this.#endLine();
      start = newline + 1;
    }
    this.#extendLine(chunk.subarray(start));
    if (this.#prompts.length >= scriptedLimits.queuedPrompts) this.#stream.pause();
  }

  #extendLine(part: Buffer): void {
    this.#lineBytes += part.length;
    if (this.#lineBytes > scriptedLimits.inputBytes) this.#line = [];
    else if (part.length > 0) this.#line.push(part);
  }

  #endLine(): void {
    const bytes = this.#lineBytes;
    const text = Buffer.concat(this.#line).toString('utf8');
    this.#line = [];
    this.#lineBytes = 0;
    if (bytes > scriptedLimits.inputBytes) {
      this.#report(`skipped an input line of ${bytes} bytes; the limit is ${scriptedLimits.inputBytes}`);
    } else if (text.trim() !== '') {
      const parsed = parseUserTurn(text);
      if ('answer' in parsed) this.#permissions?.answer(parsed.answer);
      else if (!parsed.ok) this.#report(`skipped an input line: ${parsed.reason}`);
      else if (this.#admit(parsed.turn)) this.#deliver(parsed.turn.prompt);
    }
  }

  #deliver(prompt: string): void {
    if (this.#waiting === undefined) {
      this.#prompts.push(prompt);
      return;
    }
    this.#waiting(prompt);
    this.#waiting = undefined;
  }

  #end(): void {
    if (this.#ended) return;
    this.#endLine();
    this.#ended = true;
    this.#permissions?.close();
    this.#waiting?.(undefined);
    this.#waiting = undefined;
  }
}

type ParsedTurn = { ok: true; turn: UserTurn } | { ok: false; reason: string } | { answer: ApprovalAnswer };

/** Parses a user turn or an answer to a request for permission. Refuses control requests, and ignores the sender's id unless it is a UUID. */
export function parseUserTurn(line: string): ParsedTurn {
  const parsed = parseInput(line);
  if ('refused' in parsed) return { ok: false, reason: parsed.refused };
  if ('answer' in parsed) return parsed;
  if ('control' in parsed) return { ok: false, reason: 'its type is not "user"' };
  const { text, uuid } = parsed.turn;
  return { ok: true, turn: { prompt: text, uuid: uuid !== null && isSessionId(uuid) ? uuid : null } };
}
