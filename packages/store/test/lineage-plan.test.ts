import { insertAgent } from '@pawl/store/agents/agents';
import {
  descendants,
  descendsFrom,
  livingChildren,
  nearestLivingAncestor,
  supervisedBy,
} from '@pawl/store/agents/family';
import { countHistory, historyRanges, replay } from '@pawl/store/sessions/history';
import {
  appendMessage,
  countSessionMessages,
  hasAnswer,
  hasSpokenSince,
  lastMessageId,
  lastSessionMessages,
  toolMessages,
} from '@pawl/store/sessions/messages';
import { runTree } from '@pawl/store/sessions/runs';
import type { Agent } from '@pawl/schema/record';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import type { Store } from '@pawl/store/store';
import type { Tables } from '@pawl/store/tables';
import { Kysely } from 'kysely';
import { expect, test } from 'vitest';
import { agentRecord, range } from './fixture.ts';
import { everything } from './lineage.ts';
import { databasePath, expectPlans } from './query-plan.ts';
import type { Question } from './query-plan.ts';

const generations = 1_000;
const chain = range(0, generations).map(() => agentRecord());
const id = chain.at(-1)?.id ?? '';
const third = chain[2]?.id ?? '';

const agentById = 'agents USING INDEX sqlite_autoindex_agents_1 (id=?)';
const walk = [
  agentById,
  'messages USING COVERING INDEX messages_clear (agent_id=?)',
  'lineage',
  agentById,
  'messages USING COVERING INDEX messages_clear (agent_id=? AND id<?)',
];
const rows = 'messages USING INDEX messages_of_agent (agent_id=? AND id>? AND id<?)';
const climb = [agentById, 'line', agentById];

const questions: Question[] = [
  { name: 'the ranges of a history', ask: (db) => historyRanges(db, id), plan: [...walk, 'lineage', 'sort'] },
  {
    name: 'the history of a third generation: its first range, then the two others',
    ask: (db) => replay(db, third, { limit: everything }),
    plan: [...walk, 'lineage', 'sort', rows, '2 CONSTANT ROWS', 'ranges', rows, 'sort'],
  },
  {
    name: 'a page within one range',
    ask: (db) => replay(db, third, { limit: 1 }),
    plan: [...walk, 'lineage', 'sort', rows],
  },
  {
    name: 'the length of a history',
    ask: (db) => countHistory(db, id),
    plan: [...walk, 'lineage', 'messages USING COVERING INDEX messages_of_agent (agent_id=? AND id>? AND id<?)'],
  },
  {
    name: 'an agent and its descendants',
    ask: (db) => descendants(db, id),
    plan: [
      'agents USING COVERING INDEX sqlite_autoindex_agents_1 (id=?)',
      'family',
      'agents USING INDEX agents_children (parent_id=?)',
      'family',
      agentById,
      'sort',
    ],
  },
  {
    name: 'the living children of an agent',
    ask: (db) => livingChildren(db, id),
    plan: ['agents USING INDEX agents_children (parent_id=?)'],
  },
  {
    name: 'the agents that one looks after',
    ask: (db) => supervisedBy(db, id),
    plan: ['agents USING INDEX agents_supervised (supervisor_id=?)'],
  },
  { name: 'an ancestor', ask: (db) => descendsFrom(db, id, third), plan: [...climb, 'line'] },
  {
    name: 'the nearest living ancestor',
    ask: (db) => nearestLivingAncestor(db, id),
    plan: [...climb, 'line', agentById, 'sort'],
  },
  {
    name: 'a run and those below it',
    ask: (db) => runTree(db, id),
    plan: [
      'runs USING COVERING INDEX sqlite_autoindex_runs_1 (id=?)',
      'tree',
      'runs USING INDEX runs_children (parent_run_id=?)',
      'tree',
      'runs USING INDEX sqlite_autoindex_runs_1 (id=?)',
      'sort',
    ],
  },
  {
    name: 'the latest message of an agent',
    ask: (db) => lastMessageId(db, id),
    plan: ['messages USING COVERING INDEX messages_of_agent (agent_id=? AND id<?)'],
  },
  {
    name: 'the last words of a session',
    ask: (db) => lastSessionMessages(db, id, id, 5),
    plan: ['messages USING INDEX messages_of_session (session_id=?)'],
  },
  {
    name: 'whether an agent has spoken since',
    ask: (db) => hasSpokenSince(db, id, 5),
    plan: ['messages USING INDEX messages_of_agent (agent_id=? AND id>?)'],
  },
  {
    name: 'how much a session has said',
    ask: (db) => countSessionMessages(db, id, id),
    plan: ['messages USING INDEX messages_of_session (session_id=?)'],
  },
  {
    name: 'whether the model answered in a session',
    ask: (db) => hasAnswer(db, id, id),
    plan: ['messages USING INDEX messages_of_session (session_id=?)'],
  },
  {
    name: 'the tools of a session',
    ask: (db) => toolMessages(db, id, id),
    plan: ['messages USING INDEX messages_of_session (session_id=?)'],
  },
];

test('a lineage is walked by index, never by a full scan', async () => {
  const path = await databasePath((store) => addChain(store, chain));
  await expectPlans(path, questions);
});

test('a history of 1,000 generations is read in few queries [S1-33, 3.2.3]', async () => {
  const path = await databasePath((store) => addChain(store, chain));
  let asked = 0;
  const db = new Kysely<Tables>({ dialect: sqliteEngine(path).reader, log: () => void (asked += 1) });
  const messages = await replay(db, id, { limit: everything });
  expect(messages.map(({ content }) => content)).toEqual(range(0, generations).map(String));
  expect(await countHistory(db, id)).toEqual({ inherited: generations, own: 1 });
  expect(await historyRanges(db, id)).toHaveLength(generations + 1);
  await db.destroy();
  expect(asked).toBeLessThan(40);
});

/** Adds a chain of agents, each forked after one message of its parent. */
async function addChain(store: Store, agents: Agent[]): Promise<void> {
  await store.write(async (tx) => {
    let parentId: string | null = null;
    let forkMessageId = 0;
    for (const [generation, agent] of agents.entries()) {
      await insertAgent(tx, { ...agent, parentId, supervisorId: parentId, forkMessageId });
      forkMessageId = await appendMessage(tx, { agentId: agent.id, kind: 'user', content: `${generation}` });
      parentId = agent.id;
    }
  });
}
