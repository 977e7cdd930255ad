import { describeRule } from '@pawl/core/rules/describe-rule';
import { parseRule, ruleText } from '@pawl/core/rules/rule-match';
import type { RuleAnswer, RuleView } from '@pawl/protocol/rules/view';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import type { Agent } from '@pawl/schema/record';
import type { Rule, RuleEffect } from '@pawl/schema/rule';
import { ruleLimits } from '@pawl/schema/rule';
import { agentById } from '@pawl/store/agents/agents';
import { projectById } from '@pawl/store/projects/projects';
import { findRules, insertRule, revokeRule, rulesOfScope } from '@pawl/store/rules/rules';
import { sessionById } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { configPath } from '../project-config/config-file.ts';
import type { FileRule } from './file-rules.ts';

/** The session, agent or project that a rule is for; or everything. */
export type RuleOwner =
  | { scope: 'session'; scopeId: string }
  | { scope: 'agent'; scopeId: string }
  | { scope: 'project'; scopeId: string }
  | { scope: 'user'; scopeId: null };

export type NewRule = RuleOwner & {
  effect: RuleEffect;
  match: string;
  /** Its author: `person`, or an agent's alias. */
  madeBy: string;
  requestId: string | null;
};

/** Stores a rule in its one spelling. An equal rule that applies already is kept. Refuses a text that is no rule. */
export async function addRule(tx: WriteTransaction, given: NewRule): Promise<Rule> {
  const { scope, scopeId, effect, madeBy, requestId } = given;
  const match = ruleText(parseRule(effect, given.match));
  const known = await rulesOfScope(tx.db, scope, scopeId);
  const same = known.find((rule) => rule.effect === effect && rule.match === match);
  if (same !== undefined) return same;
  if (known.length >= ruleLimits.rulesOfScope) {
    throw new PawlError('conflict', `There are already ${known.length} such rules.`, {
      hint: 'Remove some first: pawl rules rm',
    });
  }
  const id = newId();
  const made = { createdAt: tx.now, usedAt: null, revokedAt: null };
  const rule: Rule = { id, scope, scopeId, effect, match, madeBy, requestId, ...made };
  await insertRule(tx, rule);
  tx.emit({
    type: 'rule.added',
    ...(await aboutOf(tx.db, rule)),
    data: { ruleId: id, scope, effect, match, by: madeBy },
  });
  return rule;
}

/** Revokes a rule by its id or the start of it. */
export async function revokeByReference(store: Store, reference: string): Promise<Rule> {
  const [rule, ...others] = await findRules(store.db, reference);
  const shown = JSON.stringify(reference.slice(0, 80));
  const hint = 'List them: pawl rules';
  if (rule === undefined) throw new PawlError('not_found', `There is no rule ${shown}.`, { hint });
  if (others.length > 0) throw new PawlError('ambiguous', `${shown} matches more than one rule.`, { hint });
  return store.write(async (tx) => {
    if (!(await revokeRule(tx, rule.id))) {
      throw new PawlError('conflict', `The rule “${rule.match}” was already removed.`, { hint });
    }
    const data = { ruleId: rule.id, match: rule.match, by: 'person' };
    tx.emit({ type: 'rule.revoked', ...(await aboutOf(tx.db, rule)), data });
    return { ...rule, revokedAt: tx.now };
  });
}

/** A rule for display. */
export async function viewRule(db: Database, rule: Rule): Promise<RuleAnswer['rule']> {
  const { scopeId: _scopeId, ...shown } = rule;
  const { agentId, projectId } = await aboutOf(db, rule);
  const project = projectId === null ? null : await projectById(db, projectId);
  const isOfAgent = rule.scope === 'agent' || rule.scope === 'session';
  const agent = isOfAgent && agentId !== null ? await agentById(db, agentId) : null;
  return { ...shown, counts: true, does: doesOf(rule), project: project?.name ?? null, agent: agent?.alias ?? null };
}

/** A rule in a file, for display. */
export function viewFileRule({ effect, match, project, counts }: FileRule): RuleView {
  const scope = project === null ? 'user' : 'project';
  const does = doesOf({ scope, effect, match });
  const madeBy = project === null ? 'config.yaml' : configPath;
  const unknown = { id: null, agent: null, requestId: null, createdAt: null, usedAt: null, revokedAt: null };
  return { ...unknown, scope, effect, match, does, project: project?.name ?? null, counts, madeBy };
}

/** A stored rule of an earlier release may not be readable any more. */
function doesOf(rule: Pick<Rule, 'scope' | 'effect' | 'match'>): string {
  try {
    return describeRule(rule);
  } catch {
    return 'Cannot be read by this release, so it allows nothing.';
  }
}

/** The agent and project that a rule's events are about. */
async function aboutOf(
  db: Database,
  rule: RuleOwner | Rule,
): Promise<{ agentId: string | null; projectId: string | null }> {
  if (rule.scope === 'project') return { agentId: null, projectId: rule.scopeId };
  const agent = await ownerOf(db, rule);
  return { agentId: agent?.id ?? null, projectId: agent?.projectId ?? null };
}

async function ownerOf(db: Database, { scope, scopeId }: Pick<Rule, 'scope' | 'scopeId'>): Promise<Agent | null> {
  if (scopeId === null) return null;
  if (scope === 'agent') return agentById(db, scopeId);
  const session = scope === 'session' ? await sessionById(db, scopeId) : null;
  return session === null ? null : agentById(db, session.agentId);
}
