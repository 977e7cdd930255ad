import { checkPlace, noteEnding } from '@pawl/daemon/checks/check-place';
import { findSession } from '@pawl/host/session/find-session';
import { signalProcess } from '@pawl/host/process/identity';
import { strayProcesses } from '@pawl/host/session/stray';
import { newId } from '@pawl/schema/id';
import { checkById } from '@pawl/store/changes/checks';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Step } from '../support/check-home.ts';
import { checksOf, openCheckHome } from '../support/check-home.ts';

/** A running check that no daemon watches any more. */
async function abandoned(place: string, steps: (Step | string)[], options: { clock?: () => number } = {}) {
  const platform = await openCheckHome(place, options);
  const first = platform.checker();
  const { id } = await platform.start(first, checksOf(steps));
  await waitUntil(async () => (await checkById(platform.store.db, id))?.pid ?? null, {
    what: 'the process of the check',
  });
  await first.close();
  return { ...platform, id, place: checkPlace(platform.platform.home, id) };
}

test('a check survives its daemon, and the next one adopts it', async () => {
  await using place = await temporaryDirectory();
  const go = join(place.path, 'go');
  const waiting = `echo begun; until [ -e '${go}' ]; do sleep 0.01; done; echo goes on`;
  await using platform = await abandoned(place.path, [waiting, 'echo last']);
  await platform.checker().adopt();
  await writeFile(go, '');
  expect(await platform.result(platform.id)).toMatchObject({ outcome: 'passed', step: 1 });
  expect((await platform.output(platform.id)).toString()).toBe('begun\ngoes on\nlast\n');
  expect(platform.ended).toHaveLength(1);
});

test('a check that ended unobserved is settled by its files', async () => {
  await using place = await temporaryDirectory();
  const go = join(place.path, 'go');
  await using platform = await abandoned(place.path, [
    `echo a; until [ -e '${go}' ]; do sleep 0.01; done; echo b; exit 4`,
  ]);
  await writeFile(go, '');
  await waitUntil(() => existsSync(join(platform.place.step(0), 'exit')), { what: 'the exit' });
  await platform.checker().adopt();
  expect(await platform.result(platform.id)).toMatchObject({ outcome: 'failed', detail: 'exit code 4', exitCode: 4 });
  expect((await platform.output(platform.id)).toString()).toBe('a\nb\n');
});

test('a check abandoned after a failure is resumed once by `tend`', async () => {
  await using place = await temporaryDirectory();
  const go = join(place.path, 'go');
  await using platform = await openCheckHome(place.path);
  const checker = platform.checker();
  const { id } = await platform.start(checker, checksOf([`until [ -e '${go}' ]; do sleep 0.01; done; echo over`]));
  await waitUntil(async () => (await checkById(platform.store.db, id))?.pid ?? null, {
    what: 'the process of the check',
  });
  await checker.tend();
  const refusing = vi.spyOn(platform.platform.store, 'write').mockRejectedValue(new Error('the store is broken'));
  const letGo = vi.spyOn(platform.platform.log, 'error');
  await writeFile(go, '');
  const words = 'abandoned a check for now';
  await waitUntil(() => letGo.mock.calls.some(([, message]) => message === words), { what: 'the failure' });
  refusing.mockRestore();
  expect(await checkById(platform.store.db, id)).toMatchObject({ endedAt: null });
  await Promise.all([checker.tend(), checker.tend()]);
  expect(await platform.result(id)).toMatchObject({ outcome: 'passed' });
  await checker.tend();
  expect(platform.ended).toHaveLength(1);
  expect((await platform.output(id)).toString()).toBe('over\n');
});

test('a check whose processes were all killed is lost, and that is a failure', async () => {
  await using place = await temporaryDirectory();
  await using platform = await abandoned(place.path, ['echo a; sleep 60']);
  const { identity } = await findSession(platform.place.step(0));
  if (identity === null) throw new Error('no process');
  signalProcess(identity, 'SIGKILL');
  for (const each of strayProcesses(platform.id)) signalProcess(each, 'SIGKILL');
  await platform.checker().adopt();
  const detail = 'its process was lost: it is gone and has left no exit code';
  expect(await platform.result(platform.id)).toMatchObject({ outcome: 'failed', detail, exitCode: null });
});

test('a shim killed under a running check is noticed, and the rest of it is ended', async () => {
  await using place = await temporaryDirectory();
  await using platform = await openCheckHome(place.path);
  const { id } = await platform.start(platform.checker({ livenessMs: 50, pollMs: 20 }), checksOf(['echo a; sleep 60']));
  const look = () => checkById(platform.store.db, id);
  const pid = await waitUntil(async () => (await look())?.pid ?? null, { what: 'the process' });
  signalProcess({ pid, start: (await look())?.processStart ?? '' }, 'SIGKILL');
  expect(await platform.result(id)).toMatchObject({ outcome: 'failed', exitCode: null });
  expect(platform.left(id)).toBe(0);
});

test('a check that was being ended when its daemon died has not passed, whatever it answers', async () => {
  await using place = await temporaryDirectory();
  const ready = join(place.path, 'ready');
  const polite = `trap 'exit 0' TERM; echo begun | tee '${ready}'; while :; do sleep 0.02; done`;
  await using platform = await abandoned(place.path, [polite]);
  await waitUntil(() => existsSync(ready), { what: 'its answer to TERM' });
  await noteEnding(platform.place, { outcome: 'failed', detail: 'ended after 30 min' });
  await waitUntil(
    () => {
      if (existsSync(join(platform.place.step(0), 'exit'))) return true;
      // A single scan of the processes can miss one that is just forking.
      for (const each of strayProcesses(platform.id)) signalProcess(each, 'SIGTERM');
      return false;
    },
    { what: 'the exit' },
  );
  expect(await readFile(join(platform.place.step(0), 'exit'), 'utf8')).toMatch(/^0/);
  await platform.checker().adopt();
  expect(await platform.result(platform.id)).toMatchObject({
    outcome: 'failed',
    detail: 'ended after 30 min',
    exitCode: 0,
  });
});

test('the timeout of a step runs on without a daemon; a clock that was set back does not extend it', async () => {
  await using place = await temporaryDirectory();
  let now = Date.now();
  const step = { run: 'echo a; sleep 60', timeoutMs: 60 * 60_000 };
  await using platform = await abandoned(place.path, [step], { clock: () => now });
  const second = platform.checker();
  now -= 2 * 60 * 60_000;
  await second.adopt();
  await second.close();
  expect((await checkById(platform.store.db, platform.id))?.endedAt).toBeNull();
  now += 4 * 60 * 60_000;
  await platform.checker().adopt();
  expect(await platform.result(platform.id)).toMatchObject({ outcome: 'failed', detail: 'ended after 1 h' });
  expect(platform.left(platform.id)).toBe(0);
});

test('a check that deletes its own records does not run twice', async () => {
  await using place = await temporaryDirectory();
  const ran = join(place.path, 'ran');
  const hostile = `echo ran | tee -a '${ran}'; rm -rf ../step-0; sleep 60`;
  await using platform = await abandoned(place.path, [hostile]);
  await waitUntil(() => existsSync(ran) && !existsSync(platform.place.step(0)), { what: 'the records to be gone' });
  const second = platform.checker();
  await second.adopt();
  await second.cancel(platform.id, 'enough');
  expect(await platform.result(platform.id)).toMatchObject({ outcome: 'cancelled', detail: 'enough' });
  expect(await readFile(ran, 'utf8')).toBe('ran\n');
  expect(platform.left(platform.id)).toBe(0);
});

test('leftovers of checks that ended, or never started, are removed at the next start', async () => {
  await using place = await temporaryDirectory();
  await using platform = await openCheckHome(place.path);
  const { checks } = platform.platform.home;
  await mkdir(join(checks, newId(), 'tree', '.git'), { recursive: true });
  await mkdir(join(checks, 'not-of-a-check'));
  const checker = platform.checker();
  await checker.adopt();
  await checker.close();
  expect(await platform.directories()).toEqual(['not-of-a-check']);
});

test('a closed checker starts and cancels nothing', async () => {
  await using place = await temporaryDirectory();
  await using platform = await openCheckHome(place.path);
  const checker = platform.checker();
  await checker.close();
  await expect(platform.start(checker, checksOf(['echo a']))).rejects.toMatchObject({ code: 'unavailable' });
  await expect(checker.cancel(newId(), 'x')).rejects.toMatchObject({ code: 'unavailable' });
});
