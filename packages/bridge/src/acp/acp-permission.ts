import type { PermissionOption, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import type { ApprovalRequest } from '@pawl/wire/approval-line';
import { listAt, textAt } from '../json.ts';

/** Kinds of tools that change nothing. */
const readingKinds = ['read', 'search', 'think', 'fetch'];

/** The answer to a withdrawn request. */
export const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } };

/** Decides about a request by its kind: `read-only` allows only what changes nothing. */
export function isPermitted(kind: string, permission: 'full' | 'read-only'): boolean {
  return permission === 'full' || readingKinds.includes(kind);
}

/**
 * Answers a permission request. Prefers "once": "always" makes some agents write settings into the repository. Cancels
 * if no option fits.
 */
export function answerPermission(
  options: Pick<PermissionOption, 'kind' | 'optionId'>[],
  allowed: boolean,
): RequestPermissionResponse {
  const wanted = allowed ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
  const option = wanted.flatMap((name) => options.filter((each) => each.kind === name))[0];
  return option === undefined ? cancelled : { outcome: { outcome: 'selected', optionId: option.optionId } };
}

/** Claude's names for the kinds of tools whose input rules can judge. */
const toolOfKind = new Map([
  ['execute', 'Bash'],
  ['edit', 'Edit'],
  ['delete', 'Edit'],
  ['move', 'Edit'],
  ['read', 'Read'],
  ['fetch', 'WebFetch'],
]);

/** A tool call of an agent, as far as it is known. */
export type AskedCall = { name: string; kind: string; title: string; input: Record<string, unknown> };

/** Translates an agent's permission request to Claude's form, with all paths that the agent names. */
export function acpRequest(call: AskedCall, toolCall: unknown): Omit<ApprovalRequest, 'requestId'> {
  const tool = toolOfKind.get(call.kind) ?? call.name;
  const about = {
    tool,
    toolUseId: textAt(toolCall, 'toolCallId'),
    ...(call.title === '' ? {} : { title: call.title }),
  };
  if (tool === 'Bash') return { ...about, ...commandOf(call) };
  const changes = pathsIn(toolCall).map((path) => ({ path }));
  return { ...about, input: changes.length === 0 ? call.input : { ...call.input, changes } };
}

/** A title may leave a part of the command out. With a field of its own, no rule allows it without a person. */
function commandOf({ input, title }: AskedCall): Pick<ApprovalRequest, 'input' | 'cwd'> {
  const { command, cwd, ...rest } = input;
  const directory = typeof cwd === 'string' && cwd.startsWith('/') ? { cwd } : {};
  const more = 'cwd' in directory || cwd === undefined ? rest : { ...rest, cwd };
  if (typeof command === 'string' || Array.isArray(command)) return { input: { command, ...more }, ...directory };
  return { input: { ...more, command: title, source: 'the title of the call' }, ...directory };
}

/** The paths of a call: those it works on, and those of its diffs. */
function pathsIn(toolCall: unknown): string[] {
  const named = [...listAt(toolCall, 'locations'), ...listAt(toolCall, 'content')].map((each) => textAt(each, 'path'));
  return [...new Set(named.filter((path) => path !== ''))];
}
