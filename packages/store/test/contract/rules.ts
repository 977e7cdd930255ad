import { newId } from '@pawl/schema/id';
import type { Rule } from '@pawl/schema/rule';
import {
  findRules,
  insertRule,
  listRules,
  markRulesUsed,
  revokeRule,
  rulesFor,
  rulesOfScope,
} from '@pawl/store/rules/rules';
import { endSession } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import { expect, test } from 'vitest';
import { addTeam, fixedTime } from '../fixture.ts';
import { openFresh } from './engines.ts';
import type { EngineUnderTest } from './engines.ts';

function ruleRecord(fields: Partial<Rule> = {}): Rule {
  return {
    id: newId(),
    scope: 'user',
    scopeId: null,
    effect: 'allow',
    match: `command echo '“\u{1f600}”'`,
    madeBy: 'person',
    requestId: null,
    createdAt: fixedTime,
    usedAt: null,
    revokedAt: null,
    ...fields,
  };
}

async function add(store: Store, ...rules: Rule[]): Promise<void> {
  await store.write(async (tx) => {
    for (const rule of rules) await insertRule(tx, rule);
  });
}

/** The contract of standing rules, on every engine. */
export function rulesContract(engine: EngineUnderTest): void {
  test('a rule is stored as it is, and found by the start of its id', async () => {
    const store = await openFresh(engine);
    const rule = ruleRecord({ scope: 'project', scopeId: newId(), requestId: newId(), effect: 'deny' });
    await add(store, rule, ruleRecord());
    expect(await findRules(store.db, rule.id)).toEqual([rule]);
    expect(await findRules(store.db, rule.id.slice(0, 8))).toEqual([rule]);
    for (const reference of ['', '~', '%', newId(), `${rule.id}x`])
      expect(await findRules(store.db, reference)).toEqual([]);
    expect(await rulesOfScope(store.db, 'project', rule.scopeId)).toEqual([rule]);
    expect(await rulesOfScope(store.db, 'user', null)).toHaveLength(1);
    expect(await rulesOfScope(store.db, 'agent', rule.scopeId)).toEqual([]);
  });

  test('a request gets the rules of its session, agent, projects and home, in order', async () => {
    const store = await openFresh(engine);
    const [sessionId, agentId, first, second, other] = [newId(), newId(), newId(), newId(), newId()];
    const session = ruleRecord({ scope: 'session', scopeId: sessionId });
    const agent = ruleRecord({ scope: 'agent', scopeId: agentId });
    const projects = [first, second].map((scopeId) => ruleRecord({ scope: 'project', scopeId }));
    const user = ruleRecord();
    const others = (['session', 'agent', 'project'] as const).map((scope) => ruleRecord({ scope, scopeId: other }));
    // An id counts in its own scope only.
    const crossed = [
      ruleRecord({ scope: 'agent', scopeId: sessionId }),
      ruleRecord({ scope: 'project', scopeId: agentId }),
    ];
    await add(store, user, ...projects, ...others, agent, ...crossed, session);
    const found = await rulesFor(store.db, { sessionId, agentId, projectIds: [first, second] });
    expect(found).toEqual([user, ...projects, agent, session]);
    expect(await rulesFor(store.db, { sessionId: null, agentId: null, projectIds: [] })).toEqual([user]);
  });

  test('a revoked rule applies no more, and is revoked once', async () => {
    const store = await openFresh(engine);
    const rule = ruleRecord();
    await add(store, rule);
    expect(await store.write((tx) => revokeRule(tx, rule.id))).toBe(true);
    expect(await store.write((tx) => revokeRule(tx, rule.id))).toBe(false);
    expect(await rulesFor(store.db, { sessionId: null, agentId: null, projectIds: [] })).toEqual([]);
    expect(await listRules(store.db)).toEqual([]);
    expect(await rulesOfScope(store.db, 'user', null)).toEqual([]);
    expect(await findRules(store.db, rule.id)).toEqual([{ ...rule, revokedAt: fixedTime }]);
  });

  test('the last use is noted', async () => {
    const store = await openFresh(engine);
    const [used, unused] = [ruleRecord(), ruleRecord()];
    await add(store, used, unused);
    await store.write((tx) => markRulesUsed(tx, [used.id]));
    await store.write((tx) => markRulesUsed(tx, []));
    expect(await listRules(store.db)).toEqual([{ ...used, usedAt: fixedTime }, unused]);
  });

  test('the listing has no rules of ended sessions', async () => {
    const store = await openFresh(engine);
    const { session } = await addTeam(store);
    const rule = ruleRecord({ scope: 'session', scopeId: session.id });
    await add(store, rule);
    expect(await listRules(store.db)).toEqual([rule]);
    await store.write((tx) => endSession(tx, session.id, { exitCode: 0, endReason: 'exited' }));
    expect(await listRules(store.db)).toEqual([]);
  });
}
