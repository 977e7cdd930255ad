import { PawlError } from '@pawl/schema/error';
import type { AgentAction, Definition } from '@pawl/schema/definition';
import { ownServer } from '@pawl/schema/mcp';
import { quoted } from './field-value.ts';
import { limitAllows, limitCovers, limitMayDeny } from './tool-limit.ts';
import { canonicalTool, nameCovers, toolEntry } from './tool-name.ts';

/** Pawl's own verbs. They open no file and run no program, and the daemon gates each: no list of tools has to name them. */
const ownVerbs = `mcp__${ownServer}__*`;

/**
 * Whether an agent of this definition may call a tool, under whatever name it calls it. `argument` is what the call is
 * about: the command, the path, the address. Without it an entry that is limited, such as `Bash(git:*)`, allows nothing
 * and denies all.
 */
export function mayUseTool(
  { tools, deniedTools }: Pick<Definition, 'tools' | 'deniedTools'>,
  toolName: string,
  argument?: string,
): boolean {
  const name = canonicalTool(toolName);
  const denied = deniedTools.map(toolEntry).some((entry) => {
    if (!nameCovers(entry.name, name)) return false;
    return entry.limit === null || argument === undefined || limitMayDeny(entry.limit, argument);
  });
  if (denied) return false;
  if (nameCovers(ownVerbs, name)) return true;
  return tools.map(toolEntry).some((entry) => {
    if (!nameCovers(entry.name, name)) return false;
    return entry.limit === null || (argument !== undefined && limitAllows(entry.limit, argument));
  });
}

/** True when everything that one entry allows is also allowed by an entry of the list. */
export function isCovered(list: string[], text: string): boolean {
  const inner = toolEntry(text);
  return list.map(toolEntry).some((outer) => {
    if (!nameCovers(outer.name, inner.name)) return false;
    return outer.limit === null || (inner.limit !== null && limitCovers(outer.limit, inner.limit));
  });
}

/** What both lists allow. */
export function intersectTools(one: string[], other: string[]): string[] {
  const common = [...one.filter((entry) => isCovered(other, entry)), ...other.filter((entry) => isCovered(one, entry))];
  return [...new Set(common)];
}

/** Whether the policy of this definition has the action. */
export function mayAct({ policy }: Pick<Definition, 'policy'>, action: AgentAction): boolean {
  return policy.allow.includes(action);
}

/** Refuses a subagent that would make another agent, by whatever verb: fork, delegate, spawn, work. */
export function checkMayFork(kind: Definition['kind']): void {
  if (kind === 'main') return;
  throw new PawlError('forbidden', 'A subagent may not fork, delegate, spawn or start work: delegation depth is 1.', {
    hint: 'Return the result to the agent that delegated to you; it may delegate the rest.',
  });
}

/**
 * Refuses a delegation that the caller's kind or its definition's policy does not allow, the first reason first. The kind
 * is the agent's own, which was decided when it was made and outlives a change of its definition.
 */
export function checkDelegation(
  caller: { kind: Definition['kind']; definition: Pick<Definition, 'id' | 'policy'> },
  targetId: string,
): void {
  checkMayFork(caller.kind);
  const { id, policy } = caller.definition;
  if (policy.allow.length === 0) {
    throw new PawlError('forbidden', `The definition ${id} has no policy, so its agents may not delegate.`, {
      hint: `Add a line to its front matter: policy: [Delegate]`,
    });
  }
  if (!mayAct(caller.definition, 'Delegate')) {
    throw new PawlError('forbidden', `The policy of ${id} has only ${policy.allow.join(', ')}, and not Delegate.`, {
      hint: 'Add Delegate to the policy in its front matter, or let another agent delegate.',
    });
  }
  const target = targetId.toLowerCase();
  if (policy.delegateTargets.length === 0 || policy.delegateTargets.includes(target)) return;
  const allowed = policy.delegateTargets.join(', ');
  throw new PawlError('forbidden', `${id} may delegate to ${allowed}, and not to ${quoted(target)}.`, {
    hint: 'Delegate to one of those, or add the target to delegate_targets in its front matter.',
    details: { allowed: policy.delegateTargets },
  });
}
