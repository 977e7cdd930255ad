import type { CrashPoint } from '@pawl/schema/crash-point';
import { recentChecks } from '@pawl/store/changes/checks';
import { sampleOf } from '@pawl/testing/endurance';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCheckHome } from '../support/check-home.ts';

const points: CrashPoint[] = [
  'check.after_row',
  'check.after_clone',
  'check.after_process',
  'check.after_exit',
  'check.after_result',
];

/** Starts a check in a process of its own, and waits until that has killed itself at a point. */
async function dieAt(point: CrashPoint, place: string, commands: string[]): Promise<void> {
  const program = join(import.meta.dirname, '..', 'support', 'check-process.ts');
  const env = { ...process.env, PAWL_CRASH_AT: point };
  const child = spawn(process.execPath, [program, place, ...commands], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const [, signal] = await once(child, 'exit');
  expect(signal).toBe('SIGKILL');
}

test.each(sampleOf(points, 2))('a check whose daemon is killed at %s is continued, and runs once', async (point) => {
  await using place = await temporaryDirectory();
  const ran = join(place.path, 'ran');
  await dieAt(point, place.path, [`echo one | tee -a '${ran}'`, `echo two | tee -a '${ran}'`]);
  await using platform = await openCheckHome(place.path);
  const checker = platform.checker();
  await checker.adopt();
  const [check, ...others] = await recentChecks(platform.store.db, platform.project.id, 10);
  expect(others).toEqual([]);
  const ended = await platform.result(check?.id ?? '');
  expect(ended).toMatchObject({ outcome: 'passed', step: 1, exitCode: 0 });
  expect(await readFile(ran, 'utf8')).toBe('one\ntwo\n');
  expect((await platform.output(ended.id)).toString()).toBe('one\ntwo\n');
  for (const type of ['check.started', 'check.ended']) expect(await platform.events(type)).toHaveLength(1);
  expect(await platform.directories()).toEqual([]);
});
