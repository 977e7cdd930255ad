import type { Definition } from '@pawl/schema/definition';
import { intersectTools } from './gate.ts';

/** Limits a definition to the rights of another, so that an agent cannot create one with more rights than its own. */
export function capTo(definition: Definition, limit: Definition): Definition {
  return {
    ...definition,
    tools: intersectTools(definition.tools, limit.tools),
    deniedTools: [...new Set([...definition.deniedTools, ...limit.deniedTools])],
    // Hearing of the queue grants further rights on it.
    hears: definition.hears.filter((hearing) => limit.hears.includes(hearing)),
    toolGate: limit.toolGate === 'hard' ? 'hard' : definition.toolGate,
    policy: {
      ...definition.policy,
      allow: definition.policy.allow.filter((action) => limit.policy.allow.includes(action)),
    },
  };
}
