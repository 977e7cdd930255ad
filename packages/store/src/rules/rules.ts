import type { Rule, RuleScope } from '@pawl/schema/rule';
import { ruleLimits, ruleSchema } from '@pawl/schema/rule';
import { isIdPrefix } from '../id-prefix.ts';
import { integer, nullableInteger, toColumns } from '../row.ts';
import { storeLimits } from '../store-limit.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** The origin of a request; the rules of all these scopes apply to it. */
export type RulePlace = { sessionId: string | null; agentId: string | null; projectIds: readonly string[] };

export async function insertRule(tx: WriteTransaction, rule: Rule): Promise<void> {
  await tx.db.insertInto('rules').values(toColumns(rule)).execute();
}

/** The rules that are not revoked and apply in a place, oldest first. */
export async function rulesFor(db: Database, place: RulePlace): Promise<Rule[]> {
  const owners: [RuleScope, readonly string[]][] = [
    ['session', place.sessionId === null ? [] : [place.sessionId]],
    ['agent', place.agentId === null ? [] : [place.agentId]],
    ['project', place.projectIds],
  ];
  const rows = await db
    .selectFrom('rules')
    .selectAll()
    .where('revoked_at', 'is', null)
    .where(({ or, and, eb }) =>
      or([
        eb('scope', '=', 'user'),
        ...owners.flatMap(([scope, ids]) =>
          ids.length === 0 ? [] : [and([eb('scope', '=', scope), eb('scope_id', 'in', [...ids])])],
        ),
      ]),
    )
    .orderBy('ordinal')
    .execute();
  return rows.map(ruleFrom);
}

/** All rules that are not revoked and whose session, if they have one, has not ended; oldest first. */
export async function listRules(db: Database): Promise<Rule[]> {
  const rows = await db
    .selectFrom('rules')
    .leftJoin('sessions', 'sessions.id', 'rules.scope_id')
    .selectAll('rules')
    .where('rules.revoked_at', 'is', null)
    .where(({ or, eb }) => or([eb('rules.scope', '!=', 'session'), eb('sessions.ended_at', 'is', null)]))
    .orderBy('rules.ordinal')
    .limit(ruleLimits.listed)
    .execute();
  return rows.map(ruleFrom);
}

/** Rules by id or id prefix, revoked ones included. The caller refuses more than one match. */
export async function findRules(db: Database, reference: string): Promise<Rule[]> {
  if (!isIdPrefix(reference)) return [];
  const rows = await db
    .selectFrom('rules')
    .selectAll()
    .where('id', '>=', reference)
    .where('id', '<', `${reference}~`)
    .orderBy('id')
    .limit(storeLimits.matches)
    .execute();
  return rows.map(ruleFrom);
}

/** The rules of one scope that are not revoked. */
export async function rulesOfScope(db: Database, scope: RuleScope, scopeId: string | null): Promise<Rule[]> {
  const rows = await db
    .selectFrom('rules')
    .selectAll()
    .where('revoked_at', 'is', null)
    .where('scope', '=', scope)
    .where('scope_id', scopeId === null ? 'is' : '=', scopeId)
    .orderBy('ordinal')
    .execute();
  return rows.map(ruleFrom);
}

/** Revokes a rule; false if it was revoked before. */
export async function revokeRule(tx: WriteTransaction, id: string): Promise<boolean> {
  const { numUpdatedRows } = await tx.db
    .updateTable('rules')
    .set({ revoked_at: tx.now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Notes that rules have decided about a request. */
export async function markRulesUsed(tx: WriteTransaction, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.db
    .updateTable('rules')
    .set({ used_at: tx.now })
    .where('id', 'in', [...ids])
    .execute();
}

function ruleFrom(row: Row<'rules'>): Rule {
  return ruleSchema.parse({
    id: row.id,
    scope: row.scope,
    scopeId: row.scope_id,
    effect: row.effect,
    match: row.match,
    madeBy: row.made_by,
    requestId: row.request_id,
    createdAt: integer(row.created_at),
    usedAt: nullableInteger(row.used_at),
    revokedAt: nullableInteger(row.revoked_at),
  });
}
