import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createBackup, listBackups } from '@pawl/store/directory/backup';
import { appendChunk } from '@pawl/store/sessions/chunks';
import { openDataDirectory } from '@pawl/store/directory/data-directory';
import { openDatabase } from '@pawl/store/directory/recovery';
import { sessionOffsets } from '@pawl/store/sessions/sessions';
import type { Store } from '@pawl/store/store';
import { expect, onTestFinished, test } from 'vitest';
import { addTeam, emitStopped, fixedClock, temporaryDirectory } from './fixture.ts';

test('a full database refuses clearly, keeps nothing half-written, and recovers when there is room', async () => {
  const store = await openDatabase(openDataDirectory(temporaryDirectory()), { clock: fixedClock });
  onTestFinished(() => store.close());
  const team = await addTeam(store);
  await limitPages(store, 1);
  await expectFull(store, team);
  await limitPages(store, 1_000_000);
  await appendTo(store, team);
  expect(await sessionOffsets(store.db, team.session.id)).toEqual({ stdout: 200_000, stderr: 0 });
  expect(store.lastSeq()).toBe(1);
});

test.runIf(canMount())('a disk that is really full, and then freed', async () => {
  const disk = mountSmallDisk();
  const directory = openDataDirectory(join(disk, 'home'));
  const store = await openDatabase(directory, { clock: fixedClock });
  onTestFinished(() => store.close());
  const team = await addTeam(store);
  await createBackup(directory, { clock: fixedClock, minimumAgeMs: 0 });
  const ballast = join(disk, 'ballast');
  fillWith(ballast);
  await expectFull(store, team);
  const backup = createBackup(directory, { clock: fixedClock, minimumAgeMs: 0 });
  await expect(backup).rejects.toMatchObject({ code: 'unavailable' });
  expect(listBackups(directory)).toHaveLength(1);
  rmSync(ballast);
  await appendTo(store, team);
  expect(store.lastSeq()).toBe(1);
  await createBackup(directory, { clock: fixedClock, minimumAgeMs: 0 });
  expect(listBackups(directory)).toHaveLength(2);
});

type Team = Awaited<ReturnType<typeof addTeam>>;

function chunkOf(team: Team) {
  const bytes = new Uint8Array(200_000).fill(65);
  return { sessionId: team.session.id, agentId: team.agent.id, stream: 'stdout' as const, offset: 0, bytes };
}

async function appendTo(store: Store, team: Team): Promise<void> {
  await store.write(async (tx) => {
    await appendChunk(tx, chunkOf(team));
    emitStopped(tx, 'stored');
  });
}

async function expectFull(store: Store, team: Team): Promise<void> {
  await expect(appendTo(store, team)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'The disk is full.',
    hint: expect.stringContaining('Free some space'),
  });
  expect(await sessionOffsets(store.db, team.session.id)).toEqual({ stdout: 0, stderr: 0 });
  expect(store.lastSeq()).toBe(0);
}

async function limitPages(store: Store, pages: number): Promise<void> {
  await store.write(async (tx) => {
    await sql`pragma max_page_count = ${sql.lit(pages)}`.execute(tx.db);
  });
}

function fillWith(path: string): void {
  for (let size = 16 * 1024 * 1024; size >= 1024; size /= 2) {
    try {
      writeFileSync(path, new Uint8Array(size), { flag: 'a' });
    } catch {
      // The disk took what it could; smaller pieces fill the rest.
    }
  }
}

function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  return spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;
}

function mountSmallDisk(): string {
  const path = join(temporaryDirectory(), 'disk');
  mkdirSync(path);
  expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m,mode=700', 'none', path]).status).toBe(0);
  onTestFinished(() => void spawnSync('umount', ['--lazy', path]));
  return path;
}
