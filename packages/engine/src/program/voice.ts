import type { ClaudeLine, TokenUsage, TurnEnd } from '@pawl/wire/claude-line';
import {
  assistantLine,
  callUsageLines,
  controlResponseLine,
  echoLine,
  initLine,
  inSession,
  noTokens,
  rateLimitLine,
  resultLine,
  retryLine,
  textDeltaLine,
  toolResultLine,
} from '@pawl/wire/claude-line';
import type { Answer, Usage } from '../conversation/answer-assembly.ts';
import type { AssistantMessage, ToolResult } from '../conversation/message.ts';
import type { Outcome } from '../loop/outcome.ts';
import type { TurnEvent } from '../model/model-turn.ts';

export type Speaker = { sessionId: string; model: string; partialMessages: boolean; now(): number };

/** Writes what happens as Claude Code's stream-json. Numbers are sums over this process. */
export class Voice {
  readonly #speaker: Speaker;
  readonly #write: (line: object) => void;
  readonly #total = noTokens();
  #messages = 0;
  #turnStart: number;

  constructor(speaker: Speaker, write: (line: object) => void) {
    this.#speaker = speaker;
    this.#write = write;
    this.#turnStart = speaker.now();
  }

  init(cwd: string, tools: string[], permissionMode: string): void {
    this.#say(initLine({ cwd, model: this.#speaker.model, tools, permissionMode }));
  }

  beginTurn(): void {
    this.#turnStart = this.#speaker.now();
  }

  echo(turn: { text: string; uuid: string | null }): void {
    this.#say(echoLine(turn));
  }

  event(event: TurnEvent): void {
    if (event.type === 'retry') this.#say(retryLine(event.error, event.attempt, event.delayMs));
    else if (this.#speaker.partialMessages) this.#say(textDeltaLine(event.text));
  }

  answer({ parts }: AssistantMessage, { usage }: Answer): void {
    const tokens = tokensOf(usage);
    const id = `msg_${++this.#messages}`;
    for (const name of Object.keys(tokens) as (keyof TokenUsage)[]) this.#total[name] += tokens[name];
    if (this.#speaker.partialMessages) for (const line of callUsageLines(tokens)) this.#say(line);
    for (const part of parts) {
      const block =
        part.type === 'text'
          ? { type: 'text' as const, text: part.text }
          : part.type === 'reasoning'
            ? { type: 'thinking' as const, thinking: part.text, signature: '' }
            : { type: 'tool_use' as const, id: part.id, name: part.name, input: part.input };
      this.#say(assistantLine(block, { id, model: this.#speaker.model, usage: tokens }));
    }
  }

  result({ callId, text, isError }: ToolResult): void {
    this.#say(toolResultLine(callId, text, isError));
  }

  limit(resetsAtMs: number | null): void {
    this.#say(rateLimitLine(resetsAtMs === null ? null : Math.ceil(resetsAtMs / 1_000)));
  }

  controlResponse(requestId: string, error: string | null): void {
    this.#say(controlResponseLine(requestId, error));
  }

  endTurn(end: TurnEnd, outcome: Outcome): void {
    const durationMs = Math.round(this.#speaker.now() - this.#turnStart);
    const numbers = { durationMs, messages: this.#messages, costUsd: null, usage: { ...this.#total } };
    this.#say({ ...resultLine(end, numbers), outcome });
  }

  #say(line: ClaudeLine): void {
    this.#write(inSession(line, this.#speaker.sessionId));
  }
}

function tokensOf({ input, cacheRead, cacheWrite, output }: Usage): TokenUsage {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
  };
}
