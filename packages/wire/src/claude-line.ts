import type { ConversationMessage } from '@pawl/schema/conversation/message';
import type { ContextUsage } from '@pawl/schema/runtime/context-usage';

/** The lines of Claude Code's stream-json, as plain values. A field that is undefined is left out of the JSON. */
export type ClaudeLine = { type: string } & Record<string, unknown>;

export type TokenUsage = {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
};

export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown };

/** The end of a turn. An error of the model's service is a `success` with `isError`, as Claude Code reports it. */
export type TurnEnd = {
  subtype: 'success' | 'error_during_execution';
  isError: boolean;
  text: string;
  /** The HTTP status of the model's service. */
  apiErrorStatus?: number;
  errors?: string[];
  terminalReason?: 'completed' | 'aborted_streaming';
};

/** Totals of a process at the end of a turn. */
export type TurnNumbers = { durationMs: number; messages: number; costUsd: number | null; usage: TokenUsage };

export function noTokens(): TokenUsage {
  return { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
}

/** Every line names its session, once there is one. */
export function inSession(line: ClaudeLine, sessionId: string): ClaudeLine {
  return sessionId === '' ? line : { ...line, session_id: sessionId };
}

/** The first line of a process. */
export function initLine(given: {
  cwd: string;
  model: string | null;
  tools?: string[];
  permissionMode?: string;
  apiKeySource?: string;
}): ClaudeLine {
  const { cwd, model, tools = [], permissionMode, apiKeySource } = given;
  return { type: 'system', subtype: 'init', cwd, tools, mcp_servers: [], model, permissionMode, apiKeySource };
}

/** A message of the assistant with one content block. */
export function assistantLine(
  block: ContentBlock,
  given: { model: string | null; id?: string; usage?: TokenUsage },
): ClaudeLine {
  const { id, model, usage } = given;
  const message = { id, type: 'message', role: 'assistant', model, content: [block], stop_reason: null, usage };
  return { type: 'assistant', message, parent_tool_use_id: null };
}

/** Adds what Claude's lines cannot hold: the answer that a part belongs to, and the whole message. */
export function withMessage(line: ClaudeLine, given: { answer?: string; message?: ConversationMessage }): ClaudeLine {
  return { ...line, pawl: given };
}

/** A summary that stands for everything that was said before. */
export function summaryLine(text: string): ClaudeLine {
  return { type: 'system', subtype: 'summary', text };
}

/** How full the context of the next call is. */
export function contextUsageLine(usage: ContextUsage): ClaudeLine {
  return { type: 'system', subtype: 'context_usage', ...usage };
}

/** A piece of a message that is still being written, as with `--include-partial-messages`. */
export function streamEventLine(event: { type: string } & Record<string, unknown>): ClaudeLine {
  return { type: 'stream_event', event, parent_tool_use_id: null };
}

export function textDeltaLine(text: string): ClaudeLine {
  return streamEventLine({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
}

/** The usage of one model call, which comes with the start and the end of a streamed message. */
export function callUsageLines({ output_tokens, ...usage }: TokenUsage): ClaudeLine[] {
  return [
    streamEventLine({ type: 'message_start', message: { role: 'assistant', usage } }),
    streamEventLine({ type: 'message_delta', delta: {}, usage: { output_tokens } }),
  ];
}

/** The result of a tool, which comes as a message of the user. */
export function toolResultLine(toolUseId: string, content: string, isError: boolean): ClaudeLine {
  const block = { type: 'tool_result', tool_use_id: toolUseId, content, is_error: isError };
  return { type: 'user', message: { role: 'user', content: [block] }, parent_tool_use_id: null };
}

/** A user turn that was taken in, as with `--replay-user-messages`. */
export function echoLine({ text, uuid }: { text: string; uuid: string | null }): ClaudeLine {
  return {
    type: 'user',
    message: { role: 'user', content: text },
    parent_tool_use_id: null,
    isReplay: true,
    uuid: uuid ?? undefined,
  };
}

/** The CLI retries a failed model call. */
export function retryLine(error: string, attempt: number | null, delayMs: number | null): ClaudeLine {
  return { type: 'system', subtype: 'api_retry', attempt, retry_delay_ms: delayMs, error };
}

/** A usage limit, with its end in seconds since 1970 if that is known. */
export function rateLimitLine(resetsAt: number | null, rateLimitType?: string): ClaudeLine {
  const info = { status: 'rejected', resetsAt: resetsAt ?? undefined, rateLimitType };
  return { type: 'rate_limit_event', rate_limit_info: info };
}

export function resultLine(end: TurnEnd, numbers: TurnNumbers): ClaudeLine {
  return {
    type: 'result',
    subtype: end.subtype,
    is_error: end.isError,
    api_error_status: end.apiErrorStatus,
    errors: end.errors,
    duration_ms: numbers.durationMs,
    duration_api_ms: 0,
    num_turns: numbers.messages,
    result: end.text,
    terminal_reason: end.terminalReason,
    total_cost_usd: numbers.costUsd ?? undefined,
    usage: numbers.usage,
    permission_denials: [],
  };
}

/** The answer to a control request. */
export function controlResponseLine(requestId: string, error: string | null): ClaudeLine {
  const subtype = error === null ? 'success' : 'error';
  return {
    type: 'control_response',
    response: { subtype, request_id: requestId, error: error ?? undefined },
  };
}
