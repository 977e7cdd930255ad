import type { LanguageModelV4StreamPart, LanguageModelV4Usage, SharedV4ProviderMetadata } from '@ai-sdk/provider';
import { parseObject } from '@pawl/wire/json-line';
import type { AssistantPart, ToolCall, VendorFacts } from './message.ts';

/** Tokens of one model call. `cacheRead` and `cacheWrite` are not part of `input`. */
export type Usage = { input: number; cacheRead: number; cacheWrite: number; output: number };

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

export type Answer = { parts: AssistantPart[]; finish: FinishReason; usage: Usage };

/**
 * Collects the parts of a stream into one answer. It is complete after the `finish` part only: before that, the
 * connection may have been cut anywhere.
 */
export class AnswerAssembly {
  readonly #parts: AssistantPart[] = [];
  readonly #open = new Map<string, Extract<AssistantPart, { text: string }>>();
  #finish: { reason: FinishReason; usage: Usage } | null = null;
  #characters = 0;

  /** How much text and input was collected. */
  get characters(): number {
    return this.#characters;
  }

  /** Takes in a part; returns the piece of text that it adds. */
  add(part: LanguageModelV4StreamPart): string {
    switch (part.type) {
      case 'text-start':
        this.#start(part.id, { type: 'text', text: '' });
        return '';
      case 'reasoning-start':
        this.#start(`reasoning ${part.id}`, { type: 'reasoning', text: '', ...factsOf(part.providerMetadata) });
        return '';
      case 'text-delta':
        this.#extend(part.id, part.delta);
        return part.delta;
      case 'reasoning-delta':
        this.#extend(`reasoning ${part.id}`, part.delta, part.providerMetadata);
        return '';
      case 'reasoning-end':
        this.#extend(`reasoning ${part.id}`, '', part.providerMetadata);
        return '';
      case 'tool-input-delta':
        this.#characters += part.delta.length;
        return '';
      case 'tool-call':
        if (part.providerExecuted !== true) this.#parts.push(callOf(part));
        return '';
      case 'finish':
        // The SDK reports this when the stream ended without a reason.
        if (part.finishReason.raw === undefined && part.finishReason.unified === 'other') return '';
        this.#finish = { reason: part.finishReason.unified, usage: usageOf(part.usage) };
        return '';
      default:
        return '';
    }
  }

  /** The answer, or null if the stream has not finished. */
  complete(): Answer | null {
    if (this.#finish === null) return null;
    return { parts: this.#collected(), finish: this.#finish.reason, usage: this.#finish.usage };
  }

  /** The answer so far, without calls: a cut one must not run. */
  cut(): Answer {
    const parts = this.#collected().filter((part) => part.type === 'text');
    return { parts, finish: 'length', usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 } };
  }

  #collected(): AssistantPart[] {
    return this.#parts.filter((part) => part.type !== 'text' || part.text !== '');
  }

  #start(key: string, part: Extract<AssistantPart, { text: string }>): void {
    this.#open.set(key, part);
    this.#parts.push(part);
  }

  #extend(key: string, delta: string, metadata?: SharedV4ProviderMetadata): void {
    const part = this.#open.get(key);
    this.#characters += delta.length;
    if (part === undefined) return;
    part.text += delta;
    if (part.type === 'reasoning' && metadata !== undefined) {
      part.vendorFacts = mergeFacts(part.vendorFacts, metadata);
    }
  }
}

function callOf(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): ToolCall {
  return {
    type: 'tool-call',
    id: part.toolCallId,
    name: part.toolName,
    input: parseInput(part.input),
    ...factsOf(part.providerMetadata),
  };
}

/** The input as an object, or the text as it is if it is no JSON object. An empty text is an empty input. */
function parseInput(text: string): unknown {
  const trimmed = text.trim();
  return trimmed === '' ? {} : (parseObject(trimmed) ?? text);
}

function factsOf(metadata: SharedV4ProviderMetadata | undefined): { vendorFacts?: VendorFacts } {
  return metadata === undefined ? {} : { vendorFacts: plainFacts(metadata) };
}

/** Facts as plain JSON: a conversation is stored as text. */
function plainFacts(metadata: SharedV4ProviderMetadata): VendorFacts {
  return (parseObject(JSON.stringify(metadata)) ?? {}) as VendorFacts;
}

function mergeFacts(before: VendorFacts | undefined, metadata: SharedV4ProviderMetadata): VendorFacts {
  const merged: VendorFacts = { ...before };
  for (const [vendor, facts] of Object.entries(plainFacts(metadata))) merged[vendor] = { ...merged[vendor], ...facts };
  return merged;
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  const cacheRead = inputTokens.cacheRead ?? 0;
  const cacheWrite = inputTokens.cacheWrite ?? 0;
  const input = inputTokens.noCache ?? Math.max(0, (inputTokens.total ?? 0) - cacheRead - cacheWrite);
  return { input, cacheRead, cacheWrite, output: outputTokens.total ?? 0 };
}
