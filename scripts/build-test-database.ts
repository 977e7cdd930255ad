// Creates the database of a new home once, by all migrations, for the tests to copy
// (packages/testing/src/home-database.ts).
import { dataDirectory } from '@pawl/store/directory/data-directory';
import { openDatabase } from '@pawl/store/directory/recovery';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const finished = join(import.meta.dirname, '..', '.cache', 'test-database');
const fresh = `${finished}.${process.pid}`;
const directory = dataDirectory(fresh);
mkdirSync(directory.backups, { recursive: true });
const store = await openDatabase(directory, { clock: () => 1 });
await store.close();
rmSync(directory.backups, { recursive: true });
rmSync(finished, { recursive: true, force: true });
renameSync(fresh, finished);
