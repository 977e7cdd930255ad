import { newId } from '@pawl/schema/id';
import { foundation } from '@pawl/store/migrations/early/0001-foundation';
import type { Store } from '@pawl/store/store';
import { sql } from 'kysely';

/** The migrations of the first release. */
export const oldMigrations = [foundation];

/** The rows that `addOldRows` has added. */
export const old = { project: newId(), root: newId(), agent: newId(), run: newId(), spent: newId(), session: newId() };

/** Fills a database of the first release with raw SQL: today's functions use columns that it lacks. */
export async function addOldRows(store: Store): Promise<void> {
  await store.write(async ({ db }) => {
    await sql`insert into projects (id, name, root, created_at) values (${old.project}, 'old', '/old', 1)`.execute(db);
    await sql`insert into agents (id, alias, project_id, parent_id, fork_message_id, definition, kind, class, options,
      worktree, worktree_ready_at, created_at) values
      (${old.root}, 'root', null, null, 0, 'root', 'main', 'persistent', '{}', null, null, 2),
      (${old.agent}, 'brave-otter', ${old.project}, ${old.root}, 0, 'worker', 'main', 'ephemeral', '{"a":"b"}',
        '/old/tree', 4, 3)`.execute(db);
    await sql`insert into runs (id, project_id, agent_id, agent_kind, task, started_at) values
      (${old.run}, ${old.project}, ${old.agent}, 'main', 'count', 5)`.execute(db);
    await sql`insert into runs (id, project_id, agent_id, agent_kind, task, started_at, ended_at, outcome, detail) values
      (${old.spent}, ${old.project}, ${old.agent}, 'main', 'more', 5, 6, 'failed',
        'the budget of the agent is used up: 5 of 4 tokens')`.execute(db);
    await sql`insert into sessions (id, agent_id, run_id, no, purpose, planned_at, pid, usage, stdout_offset) values
      (${old.session}, ${old.agent}, ${old.run}, 1, 'work', 6, 42,
        '{"inputTokens":1,"outputTokens":2,"cachedTokens":0,"costUsd":0,"turns":1}', 77)`.execute(db);
    await sql`update agents set run_id = ${old.run}, session_id = ${old.session} where id = ${old.agent}`.execute(db);
    await sql`insert into messages (agent_id, kind, content, created_at) values
      (${old.agent}, 'user', 'count', 7), (${old.agent}, 'assistant', 'one', 8)`.execute(db);
    await sql`insert into events (seq, at, type, data) values (1, 9, 'daemon.stopped', '{"reason":"upgrade"}')`.execute(
      db,
    );
    await sql`update counters set value = 1 where name = 'event_seq'`.execute(db);
  });
}
