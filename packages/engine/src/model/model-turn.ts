import type { LanguageModelV4CallOptions, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { messageOf } from '@pawl/schema/error';
import type { Answer } from '../conversation/answer-assembly.ts';
import { AnswerAssembly } from '../conversation/answer-assembly.ts';
import { engineLimits } from '../limit.ts';
import { faultOf, ModelFault } from './model-fault.ts';
import type { VendorModel } from './vendor-model.ts';

export type TurnEvent =
  | { type: 'text-delta'; text: string }
  | { type: 'retry'; attempt: number; delayMs: number; error: string };

export type ModelTurn = {
  model: VendorModel;
  prompt: LanguageModelV4Prompt;
  tools: LanguageModelV4FunctionTool[];
  /** Names the prompt that grows from call to call, for vendors that cache by name. */
  cacheKey: string;
  /** Asks for at most one tool call. */
  oneCall: boolean;
  signal: AbortSignal;
  onEvent(event: TurnEvent): void;
  /** Waits; ends early, without an error, if the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** Between 0 and 1. */
  random(): number;
};

/**
 * Asks the model once, and again after transient errors and cut streams, each time from the same prompt: nothing of a
 * cut answer is kept. Throws a `ModelFault`, or the signal's reason.
 */
export async function runModelTurn(turn: ModelTurn): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await callModel(turn);
    } catch (error) {
      turn.signal.throwIfAborted();
      const fault = faultOf(error);
      if (fault.kind !== 'transient' || attempt >= engineLimits.attempts) throw fault;
      const delayMs = waitBefore(attempt, fault, turn.random());
      turn.onEvent({ type: 'retry', attempt, delayMs, error: fault.message });
      await turn.sleep(delayMs, turn.signal);
      turn.signal.throwIfAborted();
    }
  }
}

/** The server's word counts; without it, the wait doubles, with a random part so that clients spread. */
function waitBefore(attempt: number, { retryAfterMs }: ModelFault, random: number): number {
  if (retryAfterMs !== null) return Math.min(retryAfterMs, engineLimits.longestWaitMs);
  const backoff = engineLimits.backoffMs * 2 ** (attempt - 1);
  return Math.min(engineLimits.longestWaitMs, Math.round(backoff * (1 + random)));
}

async function callModel(turn: ModelTurn): Promise<Answer> {
  const { model, prompt, tools, oneCall, cacheKey, signal } = turn;
  const own = new AbortController();
  const options: LanguageModelV4CallOptions = {
    prompt: model.markCache(prompt),
    abortSignal: AbortSignal.any([signal, own.signal]),
    providerOptions: model.options({ oneCall, cacheKey }),
    ...(tools.length === 0 ? {} : { tools, toolChoice: { type: 'auto' as const } }),
  };
  const assembly = new AnswerAssembly();
  const silence = setTimeout(() => own.abort(), engineLimits.silenceMs);
  try {
    const { stream } = await model.languageModel.doStream(options);
    for await (const part of partsOf(stream)) {
      silence.refresh();
      if (part.type === 'error') throw streamFault(part.error);
      const text = assembly.add(part);
      if (text !== '') turn.onEvent({ type: 'text-delta', text });
      if (assembly.characters > engineLimits.answerCharacters) return assembly.cut();
    }
  } catch (error) {
    if (own.signal.aborted) throw new ModelFault('transient', 'API Error: connection timed out: the stream was silent');
    throw error;
  } finally {
    clearTimeout(silence);
    own.abort();
  }
  const answer = assembly.complete();
  if (answer === null) throw new ModelFault('transient', 'API Error: the stream ended before the answer did');
  return answer;
}

/** The parts of a stream. Leaving the loop cancels the stream. */
async function* partsOf(
  stream: ReadableStream<LanguageModelV4StreamPart>,
): AsyncGenerator<LanguageModelV4StreamPart, void, void> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** An error within a stream: an overloaded server says so there, and broken JSON arrives this way, too. */
function streamFault(error: unknown): ModelFault {
  if (error !== null && typeof error === 'object' && 'statusCode' in error) return faultOf(error);
  const words = error instanceof Error ? messageOf(error) : JSON.stringify(error ?? null);
  return new ModelFault('transient', `API Error: stream error: ${words.slice(0, engineLimits.errorCharacters)}`);
}
