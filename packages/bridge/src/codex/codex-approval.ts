import type { ApprovalAnswer, ApprovalRequest } from '@pawl/wire/approval-line';
import { at, textAt } from '../json.ts';

/** Translates a request of Codex to Claude's form, with the input of the call; null if it asks for no approval. */
export function codexRequest(
  method: string,
  params: unknown,
  call: Record<string, unknown> = {},
): Omit<ApprovalRequest, 'requestId'> | null {
  const cwd = textAt(params, 'cwd');
  const about = { ...(cwd === '' ? {} : { cwd }), toolUseId: textAt(params, 'itemId') };
  const reason = textAt(params, 'reason');
  const title = reason === '' ? {} : { title: reason };
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return { tool: 'Bash', input: { command: scriptOf(textAt(params, 'command')) }, ...about, ...title };
    case 'item/fileChange/requestApproval': {
      const root = textAt(params, 'grantRoot');
      return { tool: 'Edit', input: { ...call, ...(root === '' ? {} : { path: root }) }, ...about, ...title };
    }
    case 'item/permissions/requestApproval':
      return { tool: 'Permissions', input: { permissions: at(params, 'permissions'), reason }, ...about, ...title };
    case 'mcpServer/elicitation/request':
      return textAt(params, '_meta', 'codex_approval_kind') === ''
        ? null
        : { tool: `mcp__${textAt(params, 'serverName')}`, input: { message: textAt(params, 'message') }, ...about };
    default:
      return null;
  }
}

/** The answer in Codex's words. */
export function codexDecision(method: string, params: unknown, { allowed }: ApprovalAnswer): object {
  switch (method) {
    case 'item/permissions/requestApproval':
      return { permissions: allowed ? (at(params, 'permissions') ?? {}) : {}, scope: 'turn' };
    case 'mcpServer/elicitation/request':
      return { action: allowed ? 'accept' : 'decline', content: allowed ? {} : null, _meta: null };
    default:
      return { decision: allowed ? 'accept' : 'decline' };
  }
}

/** A script without the shell that Codex runs it in; only if that leaves nothing out. */
function scriptOf(command: string): string {
  const [, single, double] = /^(?:\/usr)?(?:\/bin\/)?(?:ba|z)?sh -lc (?:'([^']*)'|"([^"\\$`]*)")$/s.exec(command) ?? [];
  return single ?? double ?? command;
}
