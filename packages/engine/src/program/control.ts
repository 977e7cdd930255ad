import { field, parseObject, text } from '@pawl/wire/json-line';
import type { Decision } from '../loop/turn.ts';
import type { GateRequest } from '../tools/tool.ts';

/** The question whether a tool may run, in Claude Code's words. */
export function canUseToolLine(requestId: string, { tool, title, input }: GateRequest, callId: string) {
  const request = { subtype: 'can_use_tool', tool_name: tool, display_name: tool, input, description: title };
  return { type: 'control_request', request_id: requestId, request: { ...request, tool_use_id: callId } };
}

export function cancelLine(requestId: string) {
  return { type: 'control_cancel_request', request_id: requestId };
}

/** Parses the answer to such a question; null for any other line. Everything but a plain `allow` denies. */
export function parseControlResponse(line: string): { requestId: string; decision: Decision } | null {
  const record = parseObject(line.trim());
  if (record === null || field(record, 'type') !== 'control_response') return null;
  const requestId = text(field(record, 'response', 'request_id'));
  if (field(record, 'response', 'response', 'behavior') === 'allow') return { requestId, decision: { allow: true } };
  const said = text(field(record, 'response', 'response', 'message')) || text(field(record, 'response', 'error'));
  return { requestId, decision: { allow: false, reason: said || 'Denied.' } };
}
