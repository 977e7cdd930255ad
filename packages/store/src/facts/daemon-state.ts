import { hotQuery } from '../engine/hot-query.ts';
import { nullableInteger, toColumns } from '../row.ts';
import type { Database, Row } from '../tables.ts';
import type { WriteTransaction } from '../write-transaction.ts';

/** Facts that a home has once. Null until first written. */
type DaemonState = {
  rootAgentId: string | null;
  /** The agent that the person acts as. */
  currentAgentId: string | null;
  /** The readings of both clocks, as JSON, to compare after a restart. */
  clock: string | null;
  /** The PATH of the person's last request. */
  searchPath: string | null;
  /** The position in the event log up to which mail files are written. */
  mailMirrorSeq: number | null;
  /** The loopback port of the last daemon. */
  port: number | null;
};

const emptyState: DaemonState = {
  rootAgentId: null,
  currentAgentId: null,
  clock: null,
  searchPath: null,
  mailMirrorSeq: null,
  port: null,
};

/** The id of the only row. */
const onlyRow = 1;

const selectState = hotQuery<[id: number], Row<'daemon_state'>>([onlyRow], (db, [id]) =>
  db.selectFrom('daemon_state').selectAll().where('id', '=', id),
);

export async function daemonState(db: Database): Promise<DaemonState> {
  const [row] = (await selectState(db, [onlyRow])).rows;
  if (row === undefined) return emptyState;
  return {
    rootAgentId: row.root_agent_id,
    currentAgentId: row.current_agent_id,
    clock: row.clock,
    searchPath: row.search_path,
    mailMirrorSeq: nullableInteger(row.mail_mirror_seq),
    port: nullableInteger(row.port),
  };
}

/** Writes some of the facts, and keeps the others. */
export async function updateDaemonState(tx: WriteTransaction, changed: Partial<DaemonState>): Promise<void> {
  const columns = { ...toColumns(changed), updated_at: tx.now };
  await tx.db
    .insertInto('daemon_state')
    .values({ ...toColumns(emptyState), ...columns, id: onlyRow })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(columns))
    .execute();
}
