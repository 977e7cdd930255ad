import * as z from 'zod';
import { idSchema } from './id.ts';
import { timeSchema } from './record.ts';

/** Bounds of rules and of the requests that they judge. */
export const ruleLimits = {
  /** The longest text of a rule. */
  matchCharacters: 2_000,
  /** A longer command matches no allow rule. */
  commandCharacters: 16 * 1024,
  /** A command with more words matches no allow rule. */
  commandWords: 500,
  /** How deep substitutions and nested scripts are searched for denied commands. */
  commandDepth: 8,
  /** Rules of one session, agent, project or home, in the database and in a file. */
  rulesOfScope: 500,
  /** Rules in one listing. */
  listed: 5_000,
} as const;

export const ruleEffects = ['allow', 'deny'] as const;
export type RuleEffect = (typeof ruleEffects)[number];

/** How far a rule reaches: one session, one agent, one project, or everything of this home. */
export const ruleScopes = ['session', 'agent', 'project', 'user'] as const;
export type RuleScope = (typeof ruleScopes)[number];

/** A rule's text: `command npm run *`, `tool Write src/**`, `network *.example.org:443`. */
export const ruleTextSchema = z.string().min(1).max(ruleLimits.matchCharacters);

const fileRule = z.union(
  [
    z.strictObject({ allow: ruleTextSchema }).transform(({ allow }) => ({ effect: 'allow' as const, match: allow })),
    z.strictObject({ deny: ruleTextSchema }).transform(({ deny }) => ({ effect: 'deny' as const, match: deny })),
  ],
  { error: 'a rule is {allow: …} or {deny: …} with a text such as “command npm test”' },
);

/** The key `rules` of a configuration file: `[{allow: command npm test}, {deny: tool Write secrets/**}]`. */
export const fileRulesSchema = z.array(fileRule).max(ruleLimits.rulesOfScope).default([]);

/** A stored rule. */
export const ruleSchema = z.object({
  id: idSchema,
  scope: z.enum(ruleScopes),
  /** The session, agent or project; null for the scope `user`. */
  scopeId: idSchema.nullable(),
  effect: z.enum(ruleEffects),
  match: ruleTextSchema,
  /** Its author: `person`, or an agent that may decide for others. */
  madeBy: z.string(),
  /** The request that it was made from; null if it was written by hand. */
  requestId: idSchema.nullable(),
  createdAt: timeSchema,
  usedAt: timeSchema.nullable(),
  revokedAt: timeSchema.nullable(),
});
export type Rule = z.infer<typeof ruleSchema>;

/** A path of a request. */
export type RulePath = {
  /** The path as the tool call has it, absolute or relative to the request's directory. */
  given: string;
  /** The absolute path without symbolic links; null if it cannot be resolved. */
  real: string | null;
};

/** An action of an agent, as rules judge it. */
export type RuleRequest = {
  kind: 'command' | 'file' | 'network' | 'tool';
  /** The tool's name in its CLI. */
  tool: string;
  command?: string;
  paths?: RulePath[];
  /** A host name or address, with or without a port: `example.org:443`. */
  host?: string;
  /** A part of the request that no rule describes, such as an option of the tool; then no allow rule matches. */
  unclear?: string;
  /** The directory of the request, absolute and without symbolic links; null if unknown. */
  cwd: string | null;
  /** The agent's worktree, absolute and without symbolic links; null if it has none. */
  worktree: string | null;
};
