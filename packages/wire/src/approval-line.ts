import type { StreamEvent } from '@pawl/schema/stream-event';
import { approvalLimits } from '@pawl/schema/approval/approval-limit';
import type { ApprovalKind } from '@pawl/schema/approval/approval-kind';
import type { ClaudeLine } from './claude-line.ts';
import type { JsonObject } from './json-line.ts';
import { asObject, field, text, toolInput } from './json-line.ts';

/** A request for approval, as it goes on the wire. */
export type ApprovalRequest = {
  requestId: string;
  tool: string;
  input: Record<string, unknown>;
  toolUseId?: string;
  title?: string;
  cwd?: string;
  /** The agent's own subagent that asks. */
  owner?: string | undefined;
};

/** The answer to a request. */
export type ApprovalAnswer = { requestId: string; allowed: boolean; reason: string };

/** Asks whether a tool may be used; the answer comes on stdin. */
export function approvalRequestLine(asked: ApprovalRequest): ClaudeLine {
  const { requestId, tool, input, toolUseId, title, cwd, owner } = asked;
  const about = { tool_use_id: toolUseId, title, cwd, agent_id: owner };
  const request = { subtype: 'can_use_tool', tool_name: tool, input, ...about };
  return { type: 'control_request', request_id: requestId, request };
}

/** Withdraws a request, after which no answer is expected. */
export function approvalCancelLine(requestId: string): ClaudeLine {
  return { type: 'control_cancel_request', request_id: requestId };
}

/** The answer to a request as a line of input. An allowed call runs with the input that it has. */
export function approvalAnswerLine({ requestId, allowed, reason }: ApprovalAnswer): string {
  const response = allowed ? { behavior: 'allow' } : { behavior: 'deny', message: reason };
  const line = { type: 'control_response', response: { subtype: 'success', request_id: requestId, response } };
  return `${JSON.stringify(line)}\n`;
}

/** Reads the answer in a line of input; null if it is no answer. Whatever does not clearly allow, denies. */
export function parseApprovalAnswer(record: JsonObject): ApprovalAnswer | null {
  if (field(record, 'type') !== 'control_response') return null;
  const requestId = text(field(record, 'response', 'request_id'));
  const answer = field(record, 'response', 'response');
  const allowed =
    field(record, 'response', 'subtype') === 'success' && text(field(answer, 'behavior')).toLowerCase() === 'allow';
  return { requestId, allowed, reason: text(field(answer, 'message')) };
}

const kinds: Record<string, ApprovalKind> = {
  Bash: 'command',
  Write: 'file',
  Edit: 'file',
  MultiEdit: 'file',
  NotebookEdit: 'file',
  Read: 'file',
  Glob: 'file',
  Grep: 'file',
  WebFetch: 'network',
  WebSearch: 'network',
  AskUserQuestion: 'question',
  ExitPlanMode: 'plan',
};

export function approvalKindOf(tool: string): ApprovalKind {
  return Object.hasOwn(kinds, tool) ? (kinds[tool] ?? 'tool') : 'tool';
}

/** A request for approval in the output of a CLI. Other control requests are no facts of ours. */
export function parseApprovalRequest(record: JsonObject, line: string): StreamEvent[] {
  const request = field(record, 'request');
  const nativeId = text(field(record, 'request_id'));
  if (field(request, 'subtype') !== 'can_use_tool' || !isNativeId(nativeId)) return [{ type: 'unknown', text: line }];
  const tool = text(field(request, 'tool_name')).slice(0, approvalLimits.nameCharacters) || 'unknown';
  const input = field(request, 'input');
  return [
    {
      type: 'approval-request',
      nativeId,
      tool,
      kind: approvalKindOf(tool),
      title: titleOf(request, input, tool),
      detail: JSON.stringify(asObject(input) ?? {}),
      cwd: text(field(request, 'cwd')) || null,
      owner: text(field(request, 'agent_id')).slice(0, approvalLimits.nameCharacters) || null,
      tooLong: false,
    },
  ];
}

export function parseApprovalCancel(record: JsonObject, line: string): StreamEvent[] {
  const nativeId = text(field(record, 'request_id'));
  return isNativeId(nativeId) ? [{ type: 'approval-cancel', nativeId }] : [{ type: 'unknown', text: line }];
}

/**
 * The request at the beginning of a line that is too long to be read: enough to deny it. A wrong guess only denies a
 * request that does not exist.
 */
export function longApprovalRequest(beginning: string): Extract<StreamEvent, { type: 'approval-request' }>[] {
  if (!/"type"\s*:\s*"control_request"/.test(beginning)) return [];
  const [, nativeId] = /"request_id"\s*:\s*"([^"\\]{1,200})"/.exec(beginning) ?? [];
  if (nativeId === undefined || !isNativeId(nativeId)) return [];
  const [, tool = 'unknown'] = /"tool_name"\s*:\s*"([^"\\]{1,200})"/.exec(beginning) ?? [];
  const kind = approvalKindOf(tool);
  const rest = { title: tool, detail: '{}', cwd: null, owner: null, tooLong: true };
  return [{ type: 'approval-request', nativeId, tool, kind, ...rest }];
}

function titleOf(request: unknown, input: unknown, tool: string): string {
  const said = toolInput(input) || text(field(request, 'title')) || text(field(request, 'description'));
  return (said === '{}' || said === '' ? tool : said).slice(0, approvalLimits.titleCharacters);
}

function isNativeId(id: string): boolean {
  return id !== '' && id.length <= approvalLimits.nameCharacters;
}
