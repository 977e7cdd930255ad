/** The lines of Claude Code's stream-json, as plain values. Every line carries the session id. */

export type Usage = {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
};

export type ContentBlock =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: Record<string, unknown> };

export type Speaker = { sessionId: string; model: string };

/** What the end of a turn says beside the numbers. */
export type TurnEnd = {
  subtype: 'success' | 'error_during_execution';
  isError: boolean;
  text: string;
  apiErrorStatus?: number;
  errors?: string[];
};

export type TurnNumbers = { durationMs: number; messages: number; costUsd: number; usage: Usage };

const ownTools = ['Bash', 'Edit', 'Read', 'Write'];

/** No tokens at all. */
export function noTokens(): Usage {
  return { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
}

/** The first line of a process. */
export function initLine(speaker: Speaker, cwd: string, isAllowed: (tool: string) => boolean): object {
  return {
    type: 'system',
    subtype: 'init',
    cwd,
    session_id: speaker.sessionId,
    tools: ownTools.filter(isAllowed),
    mcp_servers: [],
    model: speaker.model,
    permissionMode: 'bypassPermissions',
    apiKeySource: 'none',
  };
}

/** A message of the assistant with one content block. */
export function assistantLine(speaker: Speaker, id: string, block: ContentBlock, usage: Usage): object {
  return {
    type: 'assistant',
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: speaker.model,
      content: [block],
      stop_reason: null,
      usage,
    },
    parent_tool_use_id: null,
    session_id: speaker.sessionId,
  };
}

/** A piece of a message that is still being written, as Claude Code shows it with `--include-partial-messages`. */
export function streamEventLine(speaker: Speaker, event: { type: string } & Record<string, unknown>): object {
  return { type: 'stream_event', event, parent_tool_use_id: null, session_id: speaker.sessionId };
}

/** What a tool gave back, which Claude Code shows as a message of the user. */
export function toolResultLine(speaker: Speaker, toolUseId: string, content: string, isError: boolean): object {
  return {
    type: 'user',
    message: {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: toolUseId, content, is_error: isError }],
    },
    parent_tool_use_id: null,
    session_id: speaker.sessionId,
  };
}

/** A user turn that was taken in, as Claude Code shows it with `--replay-user-messages`. */
export function echoLine(speaker: Speaker, prompt: string, uuid: string | null): object {
  return {
    type: 'user',
    message: { role: 'user', content: prompt },
    parent_tool_use_id: null,
    session_id: speaker.sessionId,
    ...(uuid === null ? {} : { uuid }),
    isReplay: true,
  };
}

/** A usage limit; without `resetsAt` (seconds since 1970) when nobody said when it ends. */
export function rateLimitLine(speaker: Speaker, resetsAt: number | undefined): object {
  return {
    type: 'rate_limit_event',
    rate_limit_info: {
      status: 'rejected',
      ...(resetsAt === undefined ? {} : { resetsAt }),
      rateLimitType: 'five_hour',
    },
    session_id: speaker.sessionId,
  };
}

/** The end of a turn. An error of the model's service is a `success` with `is_error`, as Claude Code reports it. */
export function resultLine(speaker: Pick<Speaker, 'sessionId'>, end: TurnEnd, numbers: TurnNumbers): object {
  return {
    type: 'result',
    subtype: end.subtype,
    is_error: end.isError,
    ...(end.apiErrorStatus === undefined ? {} : { api_error_status: end.apiErrorStatus }),
    ...(end.errors === undefined ? {} : { errors: end.errors }),
    duration_ms: numbers.durationMs,
    duration_api_ms: 0,
    num_turns: numbers.messages,
    result: end.text,
    ...(end.isError ? {} : { terminal_reason: 'completed' }),
    session_id: speaker.sessionId,
    total_cost_usd: numbers.costUsd,
    usage: numbers.usage,
    permission_denials: [],
  };
}
