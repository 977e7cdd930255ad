import type { Output } from './output.ts';
import type { ToolOutcome } from './tool-command.ts';
import type { ClaudeLine, ContentBlock, TokenUsage, TurnEnd } from '@pawl/wire/claude-line';
import {
  assistantLine,
  echoLine,
  inSession,
  noTokens,
  streamEventLine,
  textDeltaLine,
  toolResultLine,
} from '@pawl/wire/claude-line';
import type { Speaker } from './speaker.ts';
import { lastLine } from './speaker.ts';

const dollarsPerInputToken = 3e-6;
const dollarsPerOutputToken = 15e-6;

/** A rough, stable count: the same text always costs the same. */
function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}

function notAllowed(tool: string): ToolOutcome {
  return { text: `The tool ${tool} is not allowed. Go on without it.`, failed: true };
}

/**
 * Writes and counts every message of the agent. Numbers are totals for this process. As soon as
 * the scenario states its usage, those numbers replace the derived ones in the result.
 */
export class StreamWriter {
  readonly output: Output;
  readonly speaker: Speaker;
  readonly #isAllowed: (tool: string) => boolean;
  /** The latest text, which the result of a turn repeats. */
  lastText = '';
  #turn = 0;
  #turnStart = performance.now();
  #messages = 0;
  #unreadPromptTokens = 0;
  #derived = noTokens();
  #told: { usage: TokenUsage; costUsd: number } | undefined;

  constructor(output: Output, speaker: Speaker, isAllowed: (tool: string) => boolean) {
    this.output = output;
    this.speaker = speaker;
    this.#isAllowed = isAllowed;
  }

  /** Notes that a user turn begins; its prompt is paid for with the next message. */
  beginTurn(turn: number, prompt: string): void {
    this.#turn = turn;
    this.#turnStart = performance.now();
    this.#unreadPromptTokens += tokensOf(prompt);
    this.lastText = '';
  }

  /** Shows that a user turn was taken in. */
  echo(prompt: string, uuid: string | null): void {
    void this.#write(echoLine({ text: prompt, uuid }));
  }

  /** Prints a line that is no part of the conversation. */
  control(line: ClaudeLine): void {
    void this.#write(line);
  }

  /** Says a text. */
  async say(text: string): Promise<void> {
    this.lastText = text;
    await this.#message({ type: 'text', text }, text);
  }

  /** Thinks aloud. */
  async think(text: string): Promise<void> {
    await this.#message({ type: 'thinking', thinking: text, signature: '' }, text);
  }

  /** Says a text piece by piece, with a pause after each, and then whole. */
  async stream(pieces: string[], pause: () => Promise<void>): Promise<void> {
    const write = (event: { type: string } & Record<string, unknown>) => this.#write(streamEventLine(event));
    const message = { type: 'message', role: 'assistant', model: this.speaker.model, content: [] };
    await write({ type: 'message_start', message: { id: this.#nextMessageId(), ...message } });
    await write({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
    for (const text of pieces) {
      await this.#write(textDeltaLine(text));
      await pause();
    }
    await this.say(pieces.join(''));
    await write({ type: 'content_block_stop', index: 0 });
    await write({ type: 'message_stop' });
  }

  /**
   * Calls a tool: the call is out before the work is done, the result after it. The work of a tool that is not allowed
   * is never begun.
   */
  async useTool(
    name: string,
    input: Record<string, unknown>,
    work: () => ToolOutcome | Promise<ToolOutcome>,
  ): Promise<ToolOutcome> {
    const id = `toolu_${this.#suffix(this.#messages)}`;
    await this.#message({ type: 'tool_use', id, name, input }, JSON.stringify(input));
    const outcome = this.#isAllowed(name) ? await work() : notAllowed(name);
    await this.#write(toolResultLine(id, outcome.text, outcome.failed));
    return outcome;
  }

  /** Counts what a step wrote past this class as one message. */
  countMessage(): void {
    this.#messages += 1;
  }

  /** From now on the result reports what the scenario says it used. */
  tellUsage(input: number, output: number, cache: number, costUsd: number): void {
    this.#told ??= { usage: noTokens(), costUsd: 0 };
    this.#told.usage.input_tokens += input;
    this.#told.usage.output_tokens += output;
    this.#told.usage.cache_read_input_tokens += cache;
    this.#told.costUsd += costUsd;
  }

  /** Ends the turn with its result. */
  async endTurn(end: TurnEnd): Promise<void> {
    const usage = this.#told?.usage ?? this.#derived;
    const cost =
      this.#told?.costUsd ?? usage.input_tokens * dollarsPerInputToken + usage.output_tokens * dollarsPerOutputToken;
    await this.output.writeLine(
      lastLine(this.speaker.sessionId, end, {
        durationMs: Math.round(performance.now() - this.#turnStart),
        messages: this.#messages,
        costUsd: Number(cost.toFixed(6)),
        usage,
      }),
    );
  }

  async #message(block: ContentBlock, text: string): Promise<void> {
    const usage = { ...noTokens(), input_tokens: this.#unreadPromptTokens, output_tokens: tokensOf(text) };
    this.#unreadPromptTokens = 0;
    this.#derived.input_tokens += usage.input_tokens;
    this.#derived.output_tokens += usage.output_tokens;
    const id = this.#nextMessageId();
    this.#messages += 1;
    await this.#write(assistantLine(block, { id, model: this.speaker.model, usage }));
  }

  #write(line: ClaudeLine): Promise<void> {
    return this.output.writeLine(inSession(line, this.speaker.sessionId));
  }

  #nextMessageId(): string {
    return `msg_${this.#suffix(this.#messages + 1)}`;
  }

  /** Unique in a conversation, because every process of it begins with a turn of its own. */
  #suffix(messages: number): string {
    return `${this.speaker.sessionId.slice(0, 8)}_${this.#turn}_${messages}`;
  }
}
