import type { Compilable, CompiledQuery, DialectAdapter, QueryResult } from 'kysely';
import type { Database } from '../tables.ts';

/**
 * Makes a query that is compiled once per engine and run with different values: building and compiling it costs several
 * times what SQLite needs to run it. `build` gets example values and uses each once, in array order, so that they
 * become the parameters in that order.
 */
export function hotQuery<Values extends readonly unknown[], Row>(
  example: Values,
  build: (db: Database, values: Values) => Compilable<Row>,
): (db: Database, values: Values) => Promise<QueryResult<Row>> {
  const compiled = new WeakMap<DialectAdapter, CompiledQuery<Row>>();
  return (db, values) => {
    const { adapter } = db.getExecutor();
    let query = compiled.get(adapter);
    if (!query) {
      query = build(db, example).compile();
      assertOrder(query, example);
      compiled.set(adapter, query);
    }
    return db.executeQuery({ ...query, parameters: values });
  };
}

/** A builder may reorder values, which would store one in place of another. */
function assertOrder(query: CompiledQuery, example: readonly unknown[]): void {
  const same = query.parameters.length === example.length && example.every((value, i) => value === query.parameters[i]);
  if (!same) throw new TypeError(`the parameters are not in the order of the values: ${query.sql}`);
}
