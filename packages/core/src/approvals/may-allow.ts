import type { AccessLevel } from '@pawl/schema/access-level';

/** The rights of an agent over one request of an agent below it. */
export type OwnRights = {
  access: AccessLevel;
  /** The definition's answer for the tool; null for a refused connection, which is no tool. */
  gate: { allowed: boolean; reason: string } | null;
  /** The answer of the rules that apply to the request. */
  judged: { effect: 'allow' | 'deny' | 'ask'; reason: string };
};

/**
 * Why an agent may not allow a request of an agent below it; null if it may. An agent allows only what it may do
 * itself without asking.
 */
export function whyNotAllow({ access, gate, judged }: OwnRights): string | null {
  if (access === 'read-only') return 'its own access is read-only';
  if (gate !== null && !gate.allowed) return gate.reason;
  if (judged.effect === 'deny') return judged.reason;
  const mustAsk = access === 'ask' || gate === null;
  return mustAsk && judged.effect === 'ask' ? 'it would have to ask for that itself' : null;
}
