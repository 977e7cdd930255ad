import * as z from 'zod';
import { accessLevels } from './access-level.ts';
import { nameSchema } from './id.ts';

export const agentKinds = ['main', 'subagent'] as const;
export const agentClasses = ['persistent', 'ephemeral'] as const;
/** How an agent works: with a person who answers, or until it is finished. */
export const interactions = ['chat', 'auto'] as const;
export const definitionLayers = ['built-in', 'user', 'repository'] as const;
export const agentActions = ['Patch', 'Finalize', 'Delegate', 'Approve'] as const;
export const mailPolicies = ['wake', 'next-turn', 'pull'] as const;
export const hearings = ['changes', 'reviews', 'emergency'] as const;
export type Hearing = (typeof hearings)[number];
export type AgentAction = (typeof agentActions)[number];

/** An agent's description: all markdown files with one id, combined. */
export const definitionSchema = z.object({
  id: nameSchema,
  name: z.string(),
  description: z.string(),
  kind: z.enum(agentKinds),
  class: z.enum(agentClasses),
  role: z.string().nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  mode: z.string().nullable(),
  /** Null leaves it to the project. */
  interaction: z.enum(interactions).nullable().default(null),
  /** Canonical names; `*` is every tool, an empty list none. */
  tools: z.array(z.string()),
  deniedTools: z.array(z.string()),
  /** `advisory` permits a provider that cannot enforce its tools. */
  toolGate: z.enum(['hard', 'advisory']),
  /** The access of its agents; null leaves it to the project and the home. */
  access: z.enum(accessLevels).nullable().default(null),
  policy: z.object({
    allow: z.array(z.enum(agentActions)),
    /** Empty: any target. */
    delegateTargets: z.array(z.string()),
  }),
  workGlobs: z.array(z.string()),
  /** Paths that its agents lock for themselves when they write there. */
  lockGlobs: z.array(z.string()).default([]),
  nudge: z.string().nullable(),
  /**
   * The effect of mail on an idle agent: `wake` starts a turn, `next-turn` waits for one. With `pull` mail is never
   * delivered: the agent is told about it, and fetches it.
   */
  mail: z.enum(mailPolicies).default('wake'),
  /** Recipients of its completion notice: `parent`, or every agent of the project with that role. */
  notify: z.array(z.string()).default(['parent']),
  /** The merge queue notices that it receives. */
  hears: z.array(z.enum(hearings)).default([]),
  prompt: z.string(),
  sources: z.array(z.object({ layer: z.enum(definitionLayers), path: z.string() })),
});
export type Definition = z.infer<typeof definitionSchema>;
