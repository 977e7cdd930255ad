/** A separate process for tests that kill: `act.ts <action> <data directory>`. Reports by IPC or on its output. */
import { writeSync } from 'node:fs';
import { PawlError } from '@pawl/schema/error';
import { createBackup } from '@pawl/store/directory/backup';
import { lockDataDirectory, openDataDirectory } from '@pawl/store/directory/data-directory';
import { openDatabase } from '@pawl/store/directory/recovery';
import { updateDaemonState } from '@pawl/store/facts/daemon-state';

const [action = '', path = ''] = process.argv.slice(2);
const directory = openDataDirectory(path);
const clock = (): number => Date.now();

/** Opens the database, which migrates it, and exits. */
async function open(): Promise<void> {
  await (await openDatabase(directory, { clock })).close();
}

/** Writes until killed, and reports the number of each write once it is durable. */
async function write(): Promise<void> {
  const store = await openDatabase(directory, { clock });
  for (;;) {
    const number = store.lastSeq() + 1;
    await store.write(async (tx) => {
      await updateDaemonState(tx, { mailMirrorSeq: number });
      tx.emit({ type: 'daemon.stopped', data: { reason: `write ${number}` } });
    });
    writeSync(1, `${number}\n`);
  }
}

async function backup(): Promise<void> {
  const store = await openDatabase(directory, { clock });
  await createBackup(directory, { clock, minimumAgeMs: 0 });
  await store.close();
}

/** Takes and releases the lock on command. */
async function lock(): Promise<void> {
  let held: { release(): void } | null = null;
  process.on('message', (message) => {
    if (message === 'try') {
      try {
        held = lockDataDirectory(directory);
        process.send?.('won');
      } catch (error) {
        process.send?.(error instanceof PawlError ? error.code : String(error));
      }
    } else {
      held?.release();
      held = null;
      process.send?.('released');
    }
  });
  process.send?.('ready');
}

const actions: Record<string, () => Promise<void>> = { open, write, backup, lock };
await actions[action]?.();
