import type { LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import type { Outcome } from '@pawl/schema/runtime/outcome';
import type { Answer } from '../conversation/answer-assembly.ts';
import type { AssistantMessage, AssistantPart, Message, ToolCall, ToolResult } from '../conversation/message.ts';
import { callsOf, textOf } from '../conversation/message.ts';
import { openCalls } from '../conversation/open-calls.ts';
import { engineLimits } from '../limit.ts';
import { ModelFault } from '../model/model-fault.ts';
import { offeredTools, prepareCall } from '../tools/tool-set.ts';
import type { GateRequest, Tool, ToolContext, ToolOutcome } from '../tools/tool.ts';
import { failed } from '../tools/tool.ts';
import { summaryRequest } from './compaction.ts';
import { LoopBreaker } from './loop-breaker.ts';
import { finish, outcomeOf } from './outcome.ts';

export type Decision = { allow: true } | { allow: false; reason: string };

/**
 * The conversation of a session. `onAnswer`, `onResult` and `onSummary` store what is added before it has an effect.
 */
export type Conversation = {
  readonly messages: readonly Message[];
  append(message: Message): void;
};

export type Turn = {
  /** `chat`: one tool for each answer, until plain text. `auto`: every call, until Finish. */
  mode: 'chat' | 'auto';
  author: string;
  conversation: Conversation;
  tools: readonly Tool[];
  context: ToolContext;
  maxIterations: number;
  contextTokens: number;
  /** Asks the model. */
  ask(messages: readonly Message[], tools: LanguageModelV4FunctionTool[]): Promise<Answer>;
  /** The gate. Called before anything runs. */
  decide(request: GateRequest, callId: string): Promise<Decision>;
  /** Appends input that has arrived meanwhile. */
  takeInput(): void;
  onAnswer(message: AssistantMessage, answer: Answer): void;
  onResult(result: ToolResult): void;
  onSummary(text: string): void;
};

/** How a turn ended. `outcome` is null unless the model called Finish. */
export type TurnResult = { text: string; ok: boolean; reason: string | null; outcome: Outcome | null };

/**
 * Runs a turn: asks the model, runs the tools that it calls, and repeats that until it answers with plain text, calls
 * Finish, goes in circles or reaches the limit. Throws a `ModelFault`, or the signal's reason; open calls have results
 * then, too.
 */
export async function runTurn(turn: Turn): Promise<TurnResult> {
  const tools = turn.mode === 'auto' ? [...turn.tools, finish as Tool] : turn.tools;
  const offered = offeredTools(tools);
  const breaker = new LoopBreaker();
  let full = false;
  try {
    for (let iteration = 0; iteration < turn.maxIterations; iteration++) {
      turn.takeInput();
      if (full) await compact(turn);
      const answer = fitting(await answerOf(turn, offered));
      full = isNearlyFull(answer, turn.contextTokens);
      const circles = breaker.answered(answer);
      const parts = withNewIds(answer.parts, turn.conversation.messages);
      const message: AssistantMessage = { role: 'assistant', parts, author: turn.author };
      // Reasoning alone is no answer.
      const isEmpty = parts.every(({ type }) => type === 'reasoning');
      if (!isEmpty) {
        turn.onAnswer(message, answer);
        turn.conversation.append(message);
      }
      if (circles !== null) return ended(circles);
      if (isEmpty) continue;
      const calls = callsOf(message);
      if (calls.length === 0) return { text: textOf(message), ok: true, reason: null, outcome: null };
      const end = await runCalls(turn, tools, calls, breaker);
      if (end !== null) return end;
    }
    return ended(`The model did not finish within ${turn.maxIterations} answers.`);
  } finally {
    for (const call of openCalls(turn.conversation.messages)) addResult(turn, call, skipped('the turn ended before'));
  }
}

function ended(reason: string): TurnResult {
  return { text: reason, ok: false, reason, outcome: null };
}

const interrupted = failed(
  'Interrupted: the turn ended while this tool ran. It may have taken effect, partly or completely. Check before you repeat it.',
);

function skipped(why: string): ToolOutcome {
  return failed(`Not run: ${why}.`);
}

/** An answer that can be stored. A longer one counts as cut: its calls do not run. */
function fitting(answer: Answer): Answer {
  if (jsonBytes(answer.parts) <= engineLimits.messageBytes) return answer;
  const text = answer.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
  const note = 'This answer was too long: the rest of it is missing, and no tool was called.';
  const most = Math.floor(engineLimits.messageBytes / longestEscape);
  return { ...answer, finish: 'length', parts: [{ type: 'text', text: `${text.slice(0, most)}\n\n${note}` }] };
}

/** Bytes of a character in JSON, at most. */
const longestEscape = 6;

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Asks the model; makes room if the conversation is too long for it. */
async function answerOf(turn: Turn, tools: LanguageModelV4FunctionTool[]): Promise<Answer> {
  const { conversation } = turn;
  try {
    return await turn.ask(conversation.messages, tools);
  } catch (error) {
    if (!(error instanceof ModelFault) || error.kind !== 'too-long') throw error;
    await compact(turn);
    return await turn.ask(conversation.messages, tools);
  }
}

/** Appends a summary that stands for everything before it. */
async function compact(turn: Pick<Turn, 'ask' | 'conversation' | 'onSummary'>): Promise<void> {
  const { conversation } = turn;
  const summarise = (half: boolean) => turn.ask(summaryRequest(conversation.messages, half), []);
  const answer = await summarise(false).catch((error: unknown) => {
    if (error instanceof ModelFault && error.kind === 'too-long') return summarise(true);
    throw error;
  });
  const text = textOf({ role: 'assistant', parts: answer.parts, author: '' });
  if (text.trim() === '') return;
  turn.onSummary(text);
  conversation.append({ role: 'summary', text });
}

/**
 * Runs the calls of an answer in order; neighbours that may run side by side do. Returns the end of the turn, or null.
 */
async function runCalls(
  turn: Turn,
  tools: readonly Tool[],
  calls: ToolCall[],
  breaker: LoopBreaker,
): Promise<TurnResult | null> {
  const together: Started[] = [];
  for (const [index, call] of calls.entries()) {
    const started = await startCall(turn, tools, call, { index, breaker }).catch(async (error: unknown) => {
      await finishCalls(turn, together, breaker).catch(() => null);
      throw error;
    });
    if (started === null) continue;
    if ('end' in started) return (await finishCalls(turn, together, breaker)) ?? started.end;
    together.push(started);
    const next = calls[index + 1];
    if (started.parallel && next !== undefined && next.name === call.name && turn.mode === 'auto') continue;
    const end = await finishCalls(turn, together.splice(0), breaker);
    if (end !== null) return end;
  }
  return await finishCalls(turn, together, breaker);
}

/** A call on its way. */
type Started = { call: ToolCall; tool: string; parallel: boolean; allowed: boolean; outcome: Promise<ToolOutcome> };

/** Checks a call and starts it. Null if it has its result already; an end if the model goes in circles. */
async function startCall(
  turn: Turn,
  tools: readonly Tool[],
  call: ToolCall,
  { index, breaker }: { index: number; breaker: LoopBreaker },
): Promise<Started | { end: TurnResult } | null> {
  if (turn.mode === 'chat' && index > 0) {
    addResult(turn, call, skipped('one tool for each answer. Call it again if you still need it'));
    return null;
  }
  if (index >= engineLimits.callsOfAnswer) {
    addResult(turn, call, skipped(`only ${engineLimits.callsOfAnswer} calls of one answer run`));
    return null;
  }
  const prepared = prepareCall(tools, call.name, call.input);
  if ('problem' in prepared) {
    addResult(turn, call, failed(prepared.problem));
    const circles = breaker.invalid();
    return circles === null ? null : { end: ended(circles) };
  }
  const decision = await turn.decide(prepared.request, call.id);
  turn.context.signal.throwIfAborted();
  const { tool } = prepared;
  const outcome = decision.allow ? runStarted(turn, call, prepared.run) : Promise.resolve(failed(decision.reason));
  // A failure is thrown when all calls beside it have ended.
  outcome.catch(() => {});
  return { call, tool: tool.name, parallel: tool.parallel === true, allowed: decision.allow, outcome };
}

/** Waits for calls and adds their results in order. One that was interrupted has its result already. */
async function finishCalls(turn: Turn, started: Started[], breaker: LoopBreaker): Promise<TurnResult | null> {
  const settled = await Promise.allSettled(started.map(({ outcome }) => outcome));
  let end: TurnResult | null = null;
  for (const [index, { call, tool, allowed }] of started.entries()) {
    const result = settled[index];
    if (result?.status !== 'fulfilled') continue;
    addResult(turn, call, result.value);
    if (tool === finish.name && allowed && !result.value.isError) {
      return { text: result.value.text, ok: true, reason: null, outcome: outcomeOf(call.input) };
    }
    const circles = breaker.called(call, result.value);
    if (circles !== null) end ??= ended(circles);
  }
  for (const result of settled) if (result.status === 'rejected') throw result.reason;
  return end;
}

/** Runs a call. If the turn is stopped meanwhile, the result says so. */
async function runStarted(
  turn: Turn,
  call: ToolCall,
  run: (context: ToolContext) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  try {
    return await run(turn.context);
  } catch (error) {
    addResult(turn, call, interrupted);
    throw error;
  }
}

function addResult(turn: Turn, call: ToolCall, outcome: ToolOutcome): void {
  const { isError, images = [] } = outcome;
  const result: ToolResult = { role: 'tool-result', callId: call.id, name: call.name, text: '', images, isError };
  const room = engineLimits.messageBytes - jsonBytes(result);
  result.text =
    jsonBytes(outcome.text) <= room
      ? outcome.text
      : `${outcome.text.slice(0, Math.max(0, Math.floor(room / longestEscape)))}\n[The rest is too long.]`;
  turn.onResult(result);
  turn.conversation.append(result);
}

/** True if the conversation should be summarised before the next call. */
function isNearlyFull({ usage }: Pick<Answer, 'usage'>, contextTokens: number): boolean {
  const used = usage.input + usage.cacheRead + usage.cacheWrite + usage.output;
  return used > contextTokens * engineLimits.contextShare;
}

/** Some servers number the calls of each answer from 0, but a result must name one call of the whole conversation. */
function withNewIds(parts: AssistantPart[], messages: readonly Message[]): AssistantPart[] {
  const used = new Set(
    messages.flatMap((message) => (message.role === 'assistant' ? callsOf(message) : [])).map(({ id }) => id),
  );
  return parts.map((part) => {
    if (part.type !== 'tool-call') return part;
    let id = part.id;
    for (let count = 2; used.has(id); count++) id = `${part.id}_${count}`;
    used.add(id);
    return { ...part, id };
  });
}
