import { Kysely } from 'kysely';
import type { Event } from '@pawl/schema/event';
import type { Chunk } from '@pawl/schema/record';
import type { Engine } from './engine/engine.ts';
import { lastSeqOf } from './events.ts';
import { migrate } from './engine/migrate.ts';
import type { Migration } from './migrations/migration.ts';
import type { Database, Tables } from './tables.ts';
import { WriteQueue } from './engine/write-queue.ts';
import { runTransaction } from './write-transaction.ts';
import type { Outcome, WriteTransaction } from './write-transaction.ts';

/** The content of one committed transaction. */
export type Committed = { events: Event[]; chunks: Chunk[] };
export type CommitListener = (committed: Committed) => void;

/** The database of facts and the event log, with one writer. */
export type Store = {
  /** Committed rows only. */
  readonly db: Database;
  /** Runs `work` alone in a transaction; its facts and events are committed together or not at all. */
  write<Result>(work: (tx: WriteTransaction) => Promise<Result>): Promise<Result>;
  /** The same for writes that need not survive a power cut, only the death of this process. */
  writeRelaxed<Result>(work: (tx: WriteTransaction) => Promise<Result>): Promise<Result>;
  /** Calls the listener after every commit with events or chunks, in `seq` order. Returns an unsubscribe function. */
  onCommit(listener: CommitListener): () => void;
  /** The `seq` of the newest event that this process knows to be committed. */
  lastSeq(): number;
  /** Finishes queued writes, then closes the database. */
  close(): Promise<void>;
};

export type StoreOptions = {
  clock: () => number;
  migrations?: readonly Migration[];
  /** Called when a listener throws; other listeners and the writer continue. */
  onListenerError?: (error: unknown) => void;
};

/** Opens the store on an engine and applies migrations. */
export async function openStore(engine: Engine, options: StoreOptions): Promise<Store> {
  const writer = new Kysely<Tables>({ dialect: engine.writer });
  const reader = new Kysely<Tables>({ dialect: engine.reader });
  const close = async () => {
    // Close the writer last: it may write the log back into the database.
    await reader.destroy();
    await writer.destroy();
  };
  try {
    await migrate(engine, writer, options);
    return openedStore(engine, { writer, reader, seqAtStart: await lastSeqOf(reader) }, options, close);
  } catch (error) {
    await close();
    throw error;
  }
}

function openedStore(
  engine: Engine,
  { writer, reader, seqAtStart }: { writer: Database; reader: Database; seqAtStart: number },
  options: StoreOptions,
  close: () => Promise<void>,
): Store {
  const queue = new WriteQueue();
  const listeners = new Set<CommitListener>();
  let lastSeq = seqAtStart;

  function announce(committed: Committed): void {
    lastSeq = committed.events.at(-1)?.seq ?? lastSeq;
    if (committed.events.length === 0 && committed.chunks.length === 0) return;
    for (const listener of listeners) {
      try {
        listener(committed);
      } catch (error) {
        options.onListenerError?.(error);
      }
    }
  }

  async function run<Result>(work: () => Promise<Outcome<Result>>): Promise<Result> {
    const { result } = await queue.run(work, ({ committed }) => announce(committed));
    return result;
  }

  return {
    db: reader,
    write: (work) => run(() => runTransaction(writer, options.clock(), work)),
    writeRelaxed: (work) =>
      run(async () => {
        engine.setDurability('process');
        try {
          return await runTransaction(writer, options.clock(), work);
        } finally {
          engine.setDurability('machine');
        }
      }),
    onCommit(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    lastSeq: () => lastSeq,
    async close() {
      await queue.close();
      await close();
    },
  };
}
