import type { Access, AccessWithCase, Invariant, Needs } from '@pawl/schema/access';
import { PawlError } from '@pawl/schema/error';
import type { AgentAction, Definition } from '@pawl/schema/definition';
import { ownServer } from '@pawl/schema/mcp';
import { quoted } from './field-value.ts';
import { limitAllows, limitAllowsCommand, limitCovers, limitMayDeny, limitMayDenyCommand } from './tool-limit.ts';
import { canonicalTool, nameCovers, toolEntry } from './tool-name.ts';

/**
 * Pawl's own verbs. They open no file and run no program, and the daemon authorises each, so tool lists need not name
 * them.
 */
const ownVerbs = `mcp__${ownServer}__*`;

/**
 * Whether a definition allows a tool, under any of its names. `argument` is the command, path or address of the call.
 * Without it, a limited entry such as `Bash(git:*)` allows nothing and denies everything.
 */
export function mayUseTool(
  { tools, deniedTools }: Pick<Definition, 'tools' | 'deniedTools'>,
  toolName: string,
  argument?: string,
): boolean {
  const name = canonicalTool(toolName);
  const [allows, mayDeny] = name === 'Bash' ? [limitAllowsCommand, limitMayDenyCommand] : [limitAllows, limitMayDeny];
  const denied = deniedTools.map(toolEntry).some((entry) => {
    if (!nameCovers(entry.name, name)) return false;
    return entry.limit === null || argument === undefined || mayDeny(entry.limit, argument);
  });
  if (denied) return false;
  if (nameCovers(ownVerbs, name)) return true;
  return tools.map(toolEntry).some((entry) => {
    if (!nameCovers(entry.name, name)) return false;
    return entry.limit === null || (argument !== undefined && allows(entry.limit, argument));
  });
}

/** True if the list allows everything that one entry allows. */
export function isCovered(list: string[], text: string): boolean {
  const inner = toolEntry(text);
  return list.map(toolEntry).some((outer) => {
    if (!nameCovers(outer.name, inner.name)) return false;
    const allows = inner.name === 'Bash' ? limitAllowsCommand : limitAllows;
    return outer.limit === null || (inner.limit !== null && limitCovers(outer.limit, inner.limit, allows));
  });
}

/** Intersects two tool lists. */
export function intersectTools(one: string[], other: string[]): string[] {
  const common = [...one.filter((entry) => isCovered(other, entry)), ...other.filter((entry) => isCovered(one, entry))];
  return [...new Set(common)];
}

export function mayAct({ policy }: Pick<Definition, 'policy'>, action: AgentAction): boolean {
  return policy.allow.includes(action);
}

/** An agent that makes a request, with the definition that binds it. */
export type AgentCaller = { kind: Definition['kind']; definition: Pick<Definition, 'id' | 'policy' | 'hears'> };

/** Whether a route is open to an agent, before looking at the request itself. */
export function isOpen(access: Access | undefined, caller: AgentCaller): boolean {
  return refusalAt(access, caller) === null;
}

/** Refuses an agent whose kind or definition does not allow a route. A route without access is closed. */
export function checkAccess(access: Access | undefined, caller: AgentCaller): void {
  const refusal = refusalAt(access, caller);
  if (refusal !== null) throw refusal;
}

/** Refuses an agent in the case of a route that has further requirements. */
export function checkCase(access: AccessWithCase, caller: AgentCaller): void {
  const { when, needs } = access.also;
  const refusal = refusalFor(`${access.does} when ${when}`, needs, caller.definition);
  if (refusal !== null) throw refusal;
}

/** Whether a definition meets the requirements. */
export function meets({ policy, hears }: Pick<Definition, 'policy' | 'hears'>, needs: Needs): boolean {
  const hasActions = needs.actions.every((oneOf) => oneOf.some((action) => policy.allow.includes(action)));
  return hasActions && (needs.hears === undefined || hears.includes(needs.hears));
}

function refusalAt(access: Access | undefined, { kind, definition }: AgentCaller): PawlError | null {
  if (access === undefined || access.agents === 'none') return personOnly();
  if (access.agents === 'main' && kind !== 'main') return invariants[access.invariant ?? 'change']();
  return refusalFor(access.does, access.needs, definition);
}

export function personOnly(): PawlError {
  return new PawlError('forbidden', 'An agent may not do this; only a person may.');
}

function refusalFor(does: string, needs: Needs, definition: AgentCaller['definition']): PawlError | null {
  if (meets(definition, needs)) return null;
  const { id, policy, hears } = definition;
  const lacks = needs.actions.find((oneOf) => !oneOf.some((action) => policy.allow.includes(action)));
  if (lacks !== undefined) {
    const has = policy.allow.length === 0 ? 'is empty' : `has only ${policy.allow.join(' and ')}`;
    return new PawlError(
      'forbidden',
      `The definition ${id} may not ${does}: that needs ${lacks.join(' or ')}, and its policy ${has}.`,
      {
        hint: `Leave it to an agent whose policy has ${lacks.join(' or ')}; only a person may change the front matter of ${id}.`,
        details: { definition: id, policy: policy.allow, needs: lacks },
      },
    );
  }
  const heard = needs.hears ?? '';
  return new PawlError('forbidden', `The definition ${id} may not ${does}: that needs hears: [${heard}].`, {
    hint: 'Write to an agent that hears of it, or leave it to a person.',
    details: { definition: id, hears, needs: [heard] },
  });
}

const invariants: Record<Invariant, () => PawlError> = {
  spawn: () =>
    new PawlError('forbidden', 'A subagent cannot create agents (delegation depth is 1).', {
      hint: 'Return the result to the agent that delegated to you; it may delegate the rest.',
    }),
  change: () =>
    new PawlError('forbidden', 'A subagent has no changes; they belong to its main agent.', {
      hint: 'Return the result to the agent that delegated to you; it may propose it.',
    }),
};

/** Refuses a subagent that would create an agent, by any verb: fork, delegate, errand, review, work. */
export function checkMayFork(kind: Definition['kind']): void {
  if (kind !== 'main') throw invariants.spawn();
}

/**
 * Refuses a delegation that the route's access, the caller's kind or its policy does not allow. The kind is the agent's
 * own, fixed at its creation, whatever its definition says later.
 */
export function checkDelegation(access: Access, caller: AgentCaller, targetId: string): void {
  checkAccess(access, caller);
  const { id, policy } = caller.definition;
  const target = targetId.toLowerCase();
  if (policy.delegateTargets.length === 0 || policy.delegateTargets.includes(target)) return;
  const allowed = policy.delegateTargets.join(', ');
  throw new PawlError('forbidden', `${id} may delegate to ${allowed}, not to ${quoted(target)}.`, {
    hint: 'Delegate to one of those, or add the target to delegate_targets in its front matter.',
    details: { allowed: policy.delegateTargets },
  });
}
