import { dataDirectory } from '@pawl/store/directory/data-directory';
import { sqliteEngine } from '@pawl/store/engine/sqlite-engine';
import type { Store } from '@pawl/store/store';
import { openStore } from '@pawl/store/store';

/** The stores that are open in this process, by home. */
const stores = new Map<string, Store>();

/** Lets tests reach an open store by its home. */
export function shareStore(root: string, store: Store): void {
  stores.set(root, store);
}

/** Removes a store that is about to be closed. */
export function unshareStore(root: string): void {
  stores.delete(root);
}

/** The store of a home that is open in this process. */
export function storeOf(root: string): Store {
  const store = stores.get(root);
  if (store === undefined) throw new Error(`no store of this process has the home ${root}`);
  return store;
}

/**
 * Works with the store of a home: the open one in this process, else a new one. A second connection would block the
 * process while it waits for a transaction of the first, which could not continue.
 */
export async function withStore<T>(root: string, work: (store: Store) => Promise<T>): Promise<T> {
  const open = stores.get(root);
  if (open !== undefined) return work(open);
  const store = await openStore(sqliteEngine(dataDirectory(root).database), { clock: Date.now });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
