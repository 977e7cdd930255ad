import { existsSync } from 'node:fs';
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Created by scripts/build-test-database.ts before the tests run. */
const template = join(import.meta.dirname, '..', '..', '..', '.cache', 'test-database', 'pawl.db');

/**
 * Gives a home without a database one with all tables and no rows: the result of the migrations, in a tenth of the
 * time. The directory must exist.
 */
export async function giveDatabase(home: string): Promise<void> {
  const path = join(home, 'pawl.db');
  if (!existsSync(path)) await copyFile(template, path);
}

/**
 * Switches the sandbox off in a home without a config file: most tests are about something else, and it takes time at each
 * start. Tests of the sandbox, and of the defaults, leave this out.
 */
export async function switchSandboxOff(home: string): Promise<void> {
  const path = join(home, 'config.yaml');
  if (!existsSync(path)) await writeFile(path, 'sandbox: off\n', { mode: 0o600 });
}
