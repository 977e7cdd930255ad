import { newId } from '@pawl/schema/id';
import { countFailures, failedPersistentAgents, stuckAgents } from '@pawl/store/agents/health';
import { lastRunSeq, nudgeStates, projectEvents } from '@pawl/store/agents/nudges';
import { test } from 'vitest';
import { addTeam } from '../fixture.ts';
import { databasePath, expectPlans } from '../query-plan.ts';
import type { Question } from '../query-plan.ts';

const id = newId();

/**
 * Queries that run every minute: they read living agents and new events only, however long the log and the list of dead
 * agents.
 */
const questions: Question[] = [
  {
    name: 'what is remembered of nudges',
    ask: (db) => nudgeStates(db),
    plan: ['agents USING INDEX agents_living', 'nudges USING INDEX sqlite_autoindex_nudges_1 (agent_id=?)'],
  },
  {
    name: 'news of a project',
    ask: (db) => projectEvents(db, { projectId: id, afterSeq: 9, types: ['run.ended', 'task.added'], limit: 10 }),
    plan: [
      'events USING INDEX events_of_project (project_id=? AND seq>?)',
      'agents USING INDEX sqlite_autoindex_agents_1 (id=?) LEFT-JOIN',
    ],
  },
  {
    name: 'when the latest run of an agent began',
    ask: (db) => lastRunSeq(db, id),
    plan: ['events USING INDEX events_of_agent (agent_id=?)'],
  },
  { name: 'who is stuck', ask: (db) => stuckAgents(db), plan: ['agents USING INDEX agents_living'] },
  {
    name: 'who stays and has crashed',
    ask: (db) => failedPersistentAgents(db),
    plan: ['agents USING INDEX agents_living', 'runs USING INDEX sqlite_autoindex_runs_1 (id=?)'],
  },
  {
    name: 'how often an agent has failed',
    ask: (db) => countFailures(db, id, 0),
    plan: ['runs USING INDEX runs_of_agent (agent_id=?)', 'latest'],
  },
];

test('every periodic query uses an index', async () => {
  await expectPlans(await databasePath(addTeam), questions);
});
