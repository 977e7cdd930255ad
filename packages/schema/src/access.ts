import type { AgentAction, Hearing } from './definition.ts';

/**
 * Requirements on a definition: at least one action from each list, and a subject whose notices it must receive, if
 * named.
 */
export type Needs = { actions: readonly (readonly AgentAction[])[]; hears?: Hearing };

/** The rule that keeps subagents out. `spawn`: delegation depth is 1. `change`: only mains have changes. */
export type Invariant = 'spawn' | 'change';

/** Agents' access to one route of the daemon. People may use every route. */
export type Access = {
  /** The route's effect; completes "may not …". */
  does: string;
  /** `none` reserves the route for people; `main` refuses subagents. */
  agents: 'none' | 'main' | 'any';
  /** Why subagents are refused. */
  invariant?: Invariant;
  needs: Needs;
  /** Further requirements for one case, which the handler recognises. */
  also?: { when: string; needs: Needs };
  /** Requirement rows this rests on. */
  row: string;
};

/** Access with further requirements for one case. */
export type AccessWithCase = Access & Required<Pick<Access, 'also'>>;
