import type { CompiledQuery, DatabaseConnection, Dialect, Driver, Kysely, QueryResult } from 'kysely';
import type { Engine } from './engine.ts';
import { decodeText, encodeText } from './text.ts';

type FailureOf = Engine['failureOf'];
type Cell = Record<string, unknown>;

/** The border between our strings and errors and those of a database: wraps any dialect. */
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

  beginTransaction(connection: DatabaseConnection, settings: object): Promise<void> {
    return translated(this.#failureOf, () => this.#driver.beginTransaction(innerOf(connection), settings));
  }

  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return translated(this.#failureOf, () => this.#driver.commitTransaction(innerOf(connection)));
  }

  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return translated(this.#failureOf, () => this.#driver.rollbackTransaction(innerOf(connection)));
  }

  releaseConnection(connection: DatabaseConnection): Promise<void> {
    return this.#driver.releaseConnection(innerOf(connection));
  }

  destroy(): Promise<void> {
    return this.#driver.destroy();
  }
}

class BorderedConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  readonly #failureOf: FailureOf;

  constructor(inner: DatabaseConnection, failureOf: FailureOf) {
    this.inner = inner;
    this.#failureOf = failureOf;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const parameters = query.parameters.map((value) => (typeof value === 'string' ? encodeText(value) : value));
    const result = await translated(this.#failureOf, () =>
      this.inner.executeQuery<Row>({ ...query, parameters } as CompiledQuery),
    );
    for (const row of result.rows) decodeCells(row as Cell);
    return result;
  }

  streamQuery(): never {
    throw new Error('rows are read in pages, not as a stream');
  }
}

function innerOf(connection: DatabaseConnection): DatabaseConnection {
  return connection instanceof BorderedConnection ? connection.inner : connection;
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
