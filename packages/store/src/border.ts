import assert from 'node:assert/strict';
import type {
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
  Kysely,
  QueryResult,
  TransactionSettings,
} from 'kysely';
import type { Engine } from './engine/engine.ts';
import { decodeText, encodeText } from './text.ts';

type FailureOf = Engine['failureOf'];
type Cell = Record<string, unknown>;

/**
 * Translates strings and errors between us and a database; wraps any dialect. Also makes the engines agree on failed
 * statements: the transaction takes no more statements and cannot be committed. By default, SQLite would commit the
 * rest, and Postgres would answer a commit with a silent rollback.
 */
export function bordered(dialect: Dialect, failureOf: FailureOf): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db: Kysely<never>) => dialect.createIntrospector(db),
    createDriver: () => new BorderedDriver(dialect.createDriver(), failureOf),
  };
}

class BorderedDriver implements Driver {
  readonly #driver: Driver;
  readonly #failureOf: FailureOf;
  readonly #connections = new WeakMap<DatabaseConnection, BorderedConnection>();

  constructor(driver: Driver, failureOf: FailureOf) {
    this.#driver = driver;
    this.#failureOf = failureOf;
  }

  init(): Promise<void> {
    return translated(this.#failureOf, () => this.#driver.init());
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const inner = await translated(this.#failureOf, () => this.#driver.acquireConnection());
    const known = this.#connections.get(inner);
    if (known) return known;
    const connection = new BorderedConnection(inner, this.#failureOf);
    this.#connections.set(inner, connection);
    return connection;
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const { inner, transaction } = borderOf(connection);
    await translated(this.#failureOf, () => this.#driver.beginTransaction(inner, settings));
    transaction.open = true;
    transaction.failure = null;
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    const { inner, transaction } = borderOf(connection);
    if (transaction.failure !== null) throw transaction.failure;
    await translated(this.#failureOf, () => this.#driver.commitTransaction(inner));
    transaction.open = false;
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    const { inner, transaction } = borderOf(connection);
    transaction.open = false;
    transaction.failure = null;
    await translated(this.#failureOf, () => this.#driver.rollbackTransaction(inner));
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    return this.#driver.releaseConnection(borderOf(connection).inner);
  }

  destroy(): Promise<void> {
    return this.#driver.destroy();
  }
}

class BorderedConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  readonly transaction: { open: boolean; failure: Error | null } = { open: false, failure: null };
  readonly #failureOf: FailureOf;

  constructor(inner: DatabaseConnection, failureOf: FailureOf) {
    this.inner = inner;
    this.#failureOf = failureOf;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.transaction.failure !== null) throw this.transaction.failure;
    const parameters = query.parameters.map((value) => (typeof value === 'string' ? encodeText(value) : value));
    try {
      const result = await this.inner.executeQuery<Row>({ ...query, parameters });
      for (const row of result.rows) decodeCells(row as Cell);
      return result;
    } catch (error) {
      const failure = this.#failureOf(error) ?? (error instanceof Error ? error : new Error(String(error)));
      if (this.transaction.open) this.transaction.failure = failure;
      throw failure;
    }
  }

  streamQuery(): never {
    throw new Error('rows are read in pages, not as a stream');
  }
}

function borderOf(connection: DatabaseConnection): BorderedConnection {
  assert(connection instanceof BorderedConnection);
  return connection;
}

function decodeCells(row: Cell): void {
  for (const name in row) {
    const value = row[name];
    if (typeof value !== 'string') continue;
    const text = decodeText(value);
    if (text !== value) row[name] = text;
  }
}

async function translated<Result>(failureOf: FailureOf, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw failureOf(error) ?? error;
  }
}
