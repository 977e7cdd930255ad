import { newId } from '@pawl/schema/id';
import { agentView, agentsToReconcile, listAgents } from '@pawl/store/agents/agent-views';
import { agentById, findAgents, takenAliases } from '@pawl/store/agents/agents';
import { livingColleagues } from '@pawl/store/agents/colleagues';
import { readChunks } from '@pawl/store/sessions/chunks';
import { readEvents } from '@pawl/store/events';
import { openRuns, runsOf } from '@pawl/store/sessions/runs';
import { countOpenSessions, openSessions, sessionsOf } from '@pawl/store/sessions/sessions';
import { test } from 'vitest';
import { addTeam } from './fixture.ts';
import { databasePath, expectPlans } from './query-plan.ts';
import type { Question } from './query-plan.ts';

const id = newId();

const byId = ['agents USING INDEX sqlite_autoindex_agents_1 (id=?)'];
const latest = [
  'runs USING INDEX sqlite_autoindex_runs_1 (id=?) LEFT-JOIN',
  'sessions USING INDEX sqlite_autoindex_sessions_1 (id=?) LEFT-JOIN',
];
const byReference = [
  ...byId,
  'agents USING INDEX agents_alias_of_living (alias=?)',
  'agents USING INDEX agents_alias (alias=?)',
  'agents USING INDEX sqlite_autoindex_agents_1 (id>? AND id<?)',
];

/** Agents with a further project: few, so they may be sorted. */
const guests = [
  'agents USING INDEX sqlite_autoindex_agents_1 (id=?)',
  'agent_places USING COVERING INDEX agent_places_of_project (project_id=?)',
  ...latest,
  'sort',
];

/**
 * Frequent queries, and queries on growing tables, with SQLite's plan. Each uses an index in row order, so that it
 * costs the same with a hundred rows and with a million.
 */
const questions: Question[] = [
  {
    name: 'the living agents',
    ask: (db) => listAgents(db, { limit: 200 }),
    plan: ['agents USING INDEX agents_living', ...latest],
  },
  {
    name: 'the living agents of a project',
    ask: (db) => listAgents(db, { projectId: id, limit: 200 }),
    plan: ['agents USING INDEX agents_living_of_project (project_id=?)', ...latest, ...guests],
  },
  {
    name: 'the colleagues of a project, with what they last ran as',
    ask: (db) => livingColleagues(db, id),
    plan: ['agents USING INDEX agents_living_of_project (project_id=?)', latest[0] ?? ''],
  },
  {
    name: 'all agents',
    ask: (db) => listAgents(db, { includeEnded: true, limit: 200 }),
    plan: ['agents', ...latest],
  },
  {
    name: 'all agents of a project',
    ask: (db) => listAgents(db, { projectId: id, includeEnded: true, limit: 200 }),
    plan: ['agents USING INDEX agents_of_project (project_id=?)', ...latest, ...guests],
  },
  {
    name: 'the next page of agents',
    ask: (db) => listAgents(db, { limit: 200, before: id }),
    plan: [
      'agents USING INDEX agents_living (ordinal<?)',
      'cursor USING COVERING INDEX sqlite_autoindex_agents_1 (id=?)',
      ...latest,
    ],
  },
  { name: 'an agent by id', ask: (db) => agentById(db, id), plan: byId },
  { name: 'an agent by reference', ask: (db) => findAgents(db, id.slice(0, 8)), plan: byReference },
  {
    name: 'an agent by reference in a project',
    ask: (db) => findAgents(db, id.slice(0, 8), { projectId: id }),
    plan: byReference,
  },
  {
    name: 'a living agent by reference',
    ask: (db) => findAgents(db, id.slice(0, 8), { prefixOf: 'living' }),
    plan: byReference,
  },
  { name: 'the view of an agent', ask: (db) => agentView(db, id), plan: [...byId, ...latest] },
  {
    name: 'the aliases in use',
    ask: (db) => takenAliases(db, id),
    plan: [
      'agents USING INDEX agents_living_of_project (project_id=?)',
      'agents USING INDEX agents_to_clean_up',
      'agent_places USING INDEX agent_places_unsettled (project_id=?)',
      'agents USING INDEX sqlite_autoindex_agents_1 (id=?)',
    ],
  },
  {
    name: 'the agents to reconcile',
    ask: (db) => agentsToReconcile(db),
    plan: [
      ...byId,
      'open_runs USING INDEX runs_open',
      'open_sessions USING INDEX sessions_open',
      'to_make USING INDEX agents_to_make',
      'to_clean_up USING INDEX agents_to_clean_up',
      'to_retire USING INDEX agents_living',
      ...latest,
      'sort',
    ],
  },
  { name: 'the open sessions', ask: (db) => openSessions(db), plan: ['sessions USING INDEX sessions_open'] },
  {
    name: 'the number of open sessions',
    ask: (db) => countOpenSessions(db),
    plan: ['sessions USING INDEX sessions_open'],
  },
  { name: 'the open runs', ask: (db) => openRuns(db), plan: ['runs USING INDEX runs_open'] },
  {
    name: 'the runs of an agent',
    ask: (db) => runsOf(db, id),
    plan: ['runs USING INDEX runs_of_agent (agent_id=?)'],
  },
  {
    name: 'the sessions of an agent',
    ask: (db) => sessionsOf(db, id),
    plan: ['sessions USING INDEX sessions_of_agent (agent_id=?)'],
  },
  {
    name: 'the output of an agent',
    ask: (db) => readChunks(db, { agentId: id, afterId: 5, limitRows: 10, limitBytes: 10 }),
    plan: ['chunks USING INDEX chunks_of_agent (agent_id=? AND id>?)'],
  },
  {
    name: 'the output of a session',
    ask: (db) => readChunks(db, { sessionId: id, afterId: 5, limitRows: 10, limitBytes: 10 }),
    plan: ['chunks USING INDEX chunks_of_session (session_id=? AND id>?)'],
  },
  {
    name: 'the log',
    ask: (db) => readEvents(db, { afterSeq: 5, limit: 10 }),
    plan: ['events USING INTEGER PRIMARY KEY (rowid>?)'],
  },
  {
    name: 'the log of an agent',
    ask: (db) => readEvents(db, { afterSeq: 5, limit: 10, agentId: id }),
    plan: [
      'events USING INDEX events_of_agent (agent_id=? AND seq>?)',
      'events USING INDEX events_of_peer (peer_id=? AND seq>?)',
    ],
  },
  {
    name: 'the log of a project',
    ask: (db) => readEvents(db, { afterSeq: 5, limit: 10, projectId: id }),
    plan: ['events USING INDEX events_of_project (project_id=? AND seq>?)'],
  },
];

test('every query uses an index', async () => {
  const path = await databasePath((store) => addTeam(store));
  await expectPlans(path, questions);
});
