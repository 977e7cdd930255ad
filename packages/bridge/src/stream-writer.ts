import type { ApprovalRequest } from '@pawl/wire/approval-line';
import { approvalCancelLine, approvalRequestLine } from '@pawl/wire/approval-line';
import type { UserTurn } from '@pawl/wire/claude-input';
import type { ClaudeLine, ContentBlock, TokenUsage, TurnEnd as WireEnd } from '@pawl/wire/claude-line';
import {
  assistantLine,
  callUsageLines,
  controlResponseLine,
  echoLine,
  initLine,
  inSession,
  rateLimitLine,
  resultLine,
  retryLine,
  textDeltaLine,
  toolResultLine,
} from '@pawl/wire/claude-line';
import { bridgeLimits } from './limit.ts';
import type { InnerLine } from './line-splitter.ts';
import type { Output } from './output.ts';

/** The usage of one or more model calls. A null cost means unknown. */
export type Usage = { input: number; output: number; cacheRead: number; cacheWrite: number; costUsd: number | null };

/** How a turn ended. `status` is the HTTP status of the model's service, if known. */
export type TurnEnd =
  | { kind: 'completed' }
  | { kind: 'interrupted' }
  | { kind: 'failed'; text: string; status: number | null };

/**
 * Writes the agent's output as Claude Code's stream-json. Numbers are totals for this process. Every line has the
 * session id once there is one.
 */
export class StreamWriter {
  readonly #output: Output;
  #sessionId = '';
  #model: string | null = null;
  /** The latest complete text, which a turn's result repeats. */
  #lastText = '';
  #open: { kind: 'text' | 'thinking'; text: string } | null = null;
  #turnStartMs = performance.now();
  #calls = 0;
  #usage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, costUsd: null };

  constructor(output: Output) {
    this.#output = output;
  }

  /** The first line, with the conversation's id. */
  begin(sessionId: string, model: string | null): void {
    this.#sessionId = sessionId;
    this.#model = model;
    this.#write(initLine({ cwd: process.cwd(), model }));
  }

  beginTurn(): void {
    this.#turnStartMs = performance.now();
    this.#lastText = '';
  }

  /** The latest complete text of this turn, including the unfinished one. */
  get lastText(): string {
    return this.#open?.kind === 'text' ? this.#open.text : this.#lastText;
  }

  /** A piece of a text that the agent later repeats as a whole. */
  delta(text: string): void {
    this.#write(textDeltaLine(text));
  }

  /** A piece of a text or thought that the agent sends only in pieces; `closeText` writes the whole. */
  piece(kind: 'text' | 'thinking', text: string): void {
    if (text === '') return;
    if (this.#open?.kind !== kind || this.#open.text.length >= bridgeLimits.textCharacters) this.closeText();
    this.#open ??= { kind, text: '' };
    this.#open.text += text;
    if (kind === 'text') this.delta(text);
  }

  /** Writes the text or thought collected so far. */
  closeText(): void {
    const open = this.#open;
    this.#open = null;
    if (open?.kind === 'text') this.text(open.text);
    else if (open?.kind === 'thinking') this.thinking(open.text);
  }

  text(text: string): void {
    if (text === '') return;
    this.#lastText = text;
    this.#assistant({ type: 'text', text });
  }

  thinking(text: string): void {
    if (text !== '') this.#assistant({ type: 'thinking', thinking: text, signature: '' });
  }

  toolUse(id: string, name: string, input: unknown): void {
    this.closeText();
    this.#assistant({ type: 'tool_use', id, name, input });
  }

  toolResult(id: string, text: string, isError: boolean): void {
    this.closeText();
    this.#write(toolResultLine(id, text, isError));
  }

  /** Confirms that an input has reached the agent. */
  echo(turn: UserTurn): void {
    this.#write(echoLine(turn));
  }

  /** The agent retries a failed model call. */
  retry(error: string, attempt: number | null, delayMs: number | null): void {
    this.#write(retryLine(error, attempt, delayMs));
  }

  /** A usage limit, with its end in seconds if known. */
  limit(resetsAt: number | null): void {
    this.#write(rateLimitLine(resetsAt));
  }

  /** Counts one model call, with its usage if known. */
  countCall(usage: Partial<Usage> = {}): void {
    this.#calls += 1;
    this.addUsage(usage);
  }

  /** Adds to the totals, and reports tokens at once, so that an excessive turn can be stopped. */
  addUsage({ input = 0, output = 0, cacheRead = 0, cacheWrite = 0, costUsd = null }: Partial<Usage>): void {
    const call = { input, output, cacheRead, cacheWrite, costUsd };
    if (input + output + cacheRead + cacheWrite > 0) {
      for (const line of callUsageLines(tokensOf(call))) this.#write(line);
    }
    this.#usage.input += input;
    this.#usage.output += output;
    this.#usage.cacheRead += cacheRead;
    this.#usage.cacheWrite += cacheWrite;
    if (costUsd !== null) this.#usage.costUsd = (this.#usage.costUsd ?? 0) + costUsd;
  }

  end(end: TurnEnd): void {
    this.closeText();
    const { costUsd } = this.#usage;
    this.#write(
      resultLine(describeEnd(end, this.#lastText), {
        durationMs: Math.round(performance.now() - this.#turnStartMs),
        messages: this.#calls,
        costUsd: costUsd === null ? null : Number(costUsd.toFixed(6)),
        usage: tokensOf(this.#usage),
      }),
    );
    this.#lastText = '';
  }

  control(requestId: string, error: string | null): void {
    this.#write(controlResponseLine(requestId, error));
  }

  /** Asks for approval; the answer comes on stdin. */
  ask(request: ApprovalRequest): void {
    this.#write(approvalRequestLine(request));
  }

  cancelAsk(requestId: string): void {
    this.#write(approvalCancelLine(requestId));
  }

  /** Keeps a line of the agent that has no translation. `note` adds information. */
  raw(line: InnerLine, note: Record<string, string> = {}): void {
    if ('oversizedBytes' in line) {
      this.#output.writeLine({ type: 'bridge', subtype: 'oversized', bytes: line.oversizedBytes });
      return;
    }
    this.#output.writeLine({ type: 'bridge', ...note, raw: line.text });
  }

  /** Keeps a line of the agent that is known to be JSON. */
  rawJson(json: string, note: Record<string, string> = {}): void {
    const rest = Object.entries(note).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`);
    this.#output.writeText(`{"type":"bridge",${rest.join('')}"raw":${json.trim()}}`);
  }

  #assistant(block: ContentBlock): void {
    this.#write(assistantLine(block, { model: this.#model }));
  }

  #write(line: ClaudeLine): void {
    this.#output.writeLine(inSession(line, this.#sessionId));
  }
}

function tokensOf({ input, output, cacheRead, cacheWrite }: Usage): TokenUsage {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  };
}

/** As in Claude Code, an error of the model's service is a `success` with `isError`. */
function describeEnd(end: TurnEnd, lastText: string): WireEnd {
  switch (end.kind) {
    case 'completed':
      return { subtype: 'success', isError: false, text: lastText, terminalReason: 'completed' };
    case 'interrupted':
      return { subtype: 'error_during_execution', isError: true, text: '', terminalReason: 'aborted_streaming' };
    case 'failed':
      return end.status === null
        ? { subtype: 'error_during_execution', isError: true, text: end.text, errors: [end.text] }
        : { subtype: 'success', isError: true, text: end.text, apiErrorStatus: end.status };
  }
}
