import assert from 'node:assert/strict';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import { storeLimits } from '../store-limit.ts';

type Statement = { statement: StatementSync; returnsRows: boolean };

/** One connection over node:sqlite. Calls are synchronous, so nothing interleaves within a statement. */
class SqliteConnection implements DatabaseConnection {
  readonly database: DatabaseSync;
  readonly #writes: boolean;
  readonly #statements = new Map<string, Statement>();

  constructor(database: DatabaseSync, writes: boolean) {
    this.database = database;
    this.#writes = writes;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    // On a full disk SQLite rolls back by itself. Any statement after that would be committed alone, without the rest
    // of its transaction.
    assert(!this.#writes || this.database.isTransaction, 'the writer runs statements only inside a transaction');
    const { statement, returnsRows } = this.#prepare(sql);
    const values = parameters as SQLInputValue[];
    if (returnsRows) {
      const rows = statement.all(...values) as Row[];
      return { rows, numAffectedRows: BigInt(rows.length) };
    }
    const { changes } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  streamQuery(): never {
    throw new Error('rows are read in pages, not as a stream');
  }

  /** Kysely compiles the same few statements repeatedly; evicts the least recently used one. */
  #prepare(sql: string): Statement {
    let entry = this.#statements.get(sql);
    if (entry) {
      this.#statements.delete(sql);
    } else {
      const statement = this.database.prepare(sql);
      entry = { statement, returnsRows: statement.columns().length > 0 };
      const oldest = this.#statements.keys().next();
      if (this.#statements.size >= storeLimits.statements && !oldest.done) this.#statements.delete(oldest.value);
    }
    this.#statements.set(sql, entry);
    return entry;
  }
}

/** A Kysely driver with exactly one connection. A writer takes the write lock when its transaction begins. */
export class SqliteDriver implements Driver {
  readonly #open: () => DatabaseSync;
  readonly #writes: boolean;
  #connection: SqliteConnection | null = null;

  constructor(open: () => DatabaseSync, options: { writes: boolean }) {
    this.#open = open;
    this.#writes = options.writes;
  }

  async init(): Promise<void> {
    this.#connection = new SqliteConnection(this.#open(), this.#writes);
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    assert(this.#connection);
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    this.#database.exec(this.#writes ? 'begin immediate' : 'begin');
  }

  async commitTransaction(): Promise<void> {
    this.#database.exec('commit');
  }

  async rollbackTransaction(): Promise<void> {
    if (this.#database.isTransaction) this.#database.exec('rollback');
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#connection?.database.close();
    this.#connection = null;
  }

  /** Runs a statement outside of any transaction, such as a pragma. */
  exec(statement: string): void {
    this.#database.exec(statement);
  }

  get #database(): DatabaseSync {
    assert(this.#connection);
    return this.#connection.database;
  }
}
