import { limits } from '@pawl/schema/limit';
import type { ClaudeLine, TokenUsage, TurnEnd } from '@pawl/wire/claude-line';
import {
  assistantLine,
  callUsageLines,
  contextUsageLine,
  controlResponseLine,
  echoLine,
  initLine,
  inSession,
  noTokens,
  rateLimitLine,
  resultLine,
  retryLine,
  summaryLine,
  textDeltaLine,
  toolResultLine,
  withMessage,
} from '@pawl/wire/claude-line';
import type { Answer, Usage } from '../conversation/answer-assembly.ts';
import type { AssistantMessage, ToolResult } from '../conversation/message.ts';
import type { Outcome } from '@pawl/schema/runtime/outcome';
import type { ContextUsage } from '@pawl/schema/runtime/context-usage';
import type { TurnEvent } from '../model/model-turn.ts';
import type { Price } from './cost.ts';
import { costOf } from './cost.ts';

export type Speaker = {
  sessionId: string;
  model: string;
  partialMessages: boolean;
  price: Price | null;
  now(): number;
};

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

  /** Counts the tokens of a call, whatever becomes of its answer. */
  usage(usage: Usage): void {
    const tokens = tokensOf(usage);
    for (const name of Object.keys(tokens) as (keyof TokenUsage)[]) this.#total[name] += tokens[name];
    if (this.#speaker.partialMessages) for (const line of callUsageLines(tokens)) this.#say(line);
  }

  /** Says how full the context of a call is. */
  context(usage: ContextUsage): void {
    if (this.#speaker.partialMessages) this.#say(contextUsageLine(usage));
  }

  /** Writes an answer part by part. The last line has the whole of it, for what the others cannot hold. */
  answer(message: AssistantMessage, { usage }: Answer): void {
    const { parts } = message;
    const tokens = tokensOf(usage);
    const id = `msg_${++this.#messages}`;
    const last = parts.findLastIndex(({ type }) => type !== 'reasoning');
    const whole = isPlain(message) ? {} : { message };
    for (const [index, part] of parts.entries()) {
      const block =
        part.type === 'text'
          ? { type: 'text' as const, text: shown(part.text) }
          : part.type === 'reasoning'
            ? { type: 'thinking' as const, thinking: part.text, signature: '' }
            : { type: 'tool_use' as const, id: part.id, name: part.name, input: shownInput(part.input) };
      const line = assistantLine(block, { id, model: this.#speaker.model, usage: tokens });
      this.#say(withMessage(line, { answer: id, ...(index === last ? whole : {}) }));
    }
  }

  result(result: ToolResult): void {
    const { callId, text, isError, images } = result;
    const line = toolResultLine(callId, shown(text), isError);
    const isWhole = images.length === 0 && text.length <= limits.messageCharacters;
    this.#say(isWhole ? line : withMessage(line, { message: result }));
  }

  summary(text: string): void {
    this.#say(summaryLine(text));
  }

  limit(resetsAtMs: number | null): void {
    this.#say(rateLimitLine(resetsAtMs === null ? null : Math.ceil(resetsAtMs / 1_000)));
  }

  controlResponse(requestId: string, error: string | null): void {
    this.#say(controlResponseLine(requestId, error));
  }

  endTurn(end: TurnEnd, outcome: Outcome | null): void {
    const durationMs = Math.round(this.#speaker.now() - this.#turnStart);
    const numbers = {
      durationMs,
      messages: this.#messages,
      costUsd: costOf(this.#total, this.#speaker.price),
      usage: { ...this.#total },
    };
    this.#say({ ...resultLine(end, numbers), ...(outcome === null ? {} : { outcome }) });
  }

  #say(line: ClaudeLine): void {
    this.#write(inSession(line, this.#speaker.sessionId));
  }
}

/** True for a text without calls and reasoning that the history holds as it is. */
function isPlain({ parts }: AssistantMessage): boolean {
  const [only, ...others] = parts;
  return only?.type === 'text' && others.length === 0 && only.text.length <= limits.messageCharacters;
}

/** As much of a text as the history shows; the whole message has all of it. */
function shown(text: string): string {
  return text.length <= limits.messageCharacters ? text : `${text.slice(0, limits.messageCharacters)}…`;
}

function shownInput(input: unknown): unknown {
  const text = JSON.stringify(input) ?? '';
  return text.length <= limits.messageCharacters ? input : shown(text);
}

function tokensOf({ input, cacheRead, cacheWrite, output }: Usage): TokenUsage {
  return {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
  };
}
