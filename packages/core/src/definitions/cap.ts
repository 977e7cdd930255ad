import type { Definition } from '@pawl/schema/definition';
import { intersectTools } from './gate.ts';

/** A definition with no more rights than another: what an agent makes can do nothing that it may not do itself. */
export function capTo(definition: Definition, limit: Definition): Definition {
  return {
    ...definition,
    tools: intersectTools(definition.tools, limit.tools),
    deniedTools: [...new Set([...definition.deniedTools, ...limit.deniedTools])],
    // Who hears of the queue may do more about it.
    hears: definition.hears.filter((hearing) => limit.hears.includes(hearing)),
    toolGate: limit.toolGate === 'hard' ? 'hard' : definition.toolGate,
    policy: {
      ...definition.policy,
      allow: definition.policy.allow.filter((action) => limit.policy.allow.includes(action)),
    },
  };
}
