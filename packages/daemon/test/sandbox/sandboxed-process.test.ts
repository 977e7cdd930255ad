import { createHost } from '@pawl/host/host';
import type { SessionAddress } from '@pawl/host/process/family';
import { findFamily } from '@pawl/host/process/family';
import { isAlive, signalProcess } from '@pawl/host/process/identity';
import { findSession } from '@pawl/host/session/find-session';
import { continueSession, haltSession } from '@pawl/host/session/halt-session';
import { sendInput } from '@pawl/host/session/input';
import { interruptSession } from '@pawl/host/session/interrupt-session';
import { startSession } from '@pawl/host/session/start-session';
import { stopSession } from '@pawl/host/session/stop-session';
import { strayProcesses } from '@pawl/host/session/stray';
import { bubblewrap } from '@pawl/sandbox/bubblewrap';
import { noLimits } from '@pawl/schema/launch-spec';
import { temporaryDirectory } from '@pawl/testing/temporary';
import { waitUntil } from '@pawl/testing/wait-until';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { sandbox, sandboxTest } from './machine.ts';

const host = createHost({ confine: sandbox.works ? bubblewrap(sandbox.machine) : (launch) => launch });

/** Starts a script in a sandbox, under a shim. */
async function start(root: string, script: string) {
  const [working, temporary] = [join(root, 'work'), join(root, 'tmp')];
  for (const path of [working, temporary]) await mkdir(path);
  const [dir, marker] = [join(root, 'session'), `test-${randomUUID()}`];
  const identity = await startSession(host, {
    dir,
    marker,
    prompt: 'hello\n',
    stdin: 'fifo',
    launch: {
      command: 'sh',
      arguments: ['-c', script],
      environment: { PATH: process.env['PATH'] ?? '' },
      directories: { working, writable: [working], readable: [] },
      limits: noLimits,
      sandbox: {
        temporary,
        mounts: [],
        network: 'none',
        limits: { memoryBytes: null, processes: null, fileBytes: null },
      },
    },
  });
  const address: SessionAddress = { identity, dir, marker };
  return {
    address,
    identity,
    told: (name: string) =>
      waitUntil(() => existsSync(join(working, name)), { what: `${name}; ${readFileSync(join(dir, 'err'), 'utf8')}` }),
    exit: () => waitUntil(async () => (await findSession(dir)).exit, { what: 'an exit code' }),
    output: () => readFileSync(join(dir, 'out'), 'utf8'),
    async nothingLeft() {
      await waitUntil(() => strayProcesses(marker).length === 0, { what: 'the end of all processes' });
    },
  };
}

sandboxTest('passes input, output and the exit code', async () => {
  await using place = await temporaryDirectory();
  const run = await start(place.path, 'read -r a; read -r b; echo "$a $b $PAWL_SANDBOX"; exit 7');
  await sendInput(host, run.address.dir, 'again\n');
  expect(await run.exit()).toEqual({ code: 7 });
  expect(run.output()).toBe('hello again 1\n');
  await run.nothingLeft();
});

sandboxTest('an interrupt reaches the command, and not the sandbox around it', async () => {
  await using place = await temporaryDirectory();
  const run = await start(
    place.path,
    'trap "echo interrupted >told; exit 5" INT; : >ready; while :; do sleep 0.05; done',
  );
  await run.told('ready');
  await interruptSession(host, run.address);
  expect(await run.exit()).toEqual({ code: 5 });
  await run.told('told');
});

sandboxTest('stopping lets the command end by itself, and leaves nothing', async () => {
  await using place = await temporaryDirectory();
  const run = await start(
    place.path,
    'trap "exit 9" TERM; env -i setsid sleep 600 & : >ready; while :; do sleep 0.05; done',
  );
  await run.told('ready');
  await stopSession(host, { ...run.address, graceMs: 30_000 });
  expect(await run.exit()).toEqual({ code: 9 });
  await run.nothingLeft();
});

sandboxTest('stopping kills a command that does not end, and everything in its sandbox', async () => {
  await using place = await temporaryDirectory();
  const run = await start(place.path, 'trap "" TERM INT; : >ready; while :; do sleep 0.05; done');
  await run.told('ready');
  await stopSession(host, { ...run.address, graceMs: 50 });
  expect(await run.exit()).toEqual({ code: 137 });
  await run.nothingLeft();
});

sandboxTest(
  'a process without environment, session and parents ends with the command [sandbox processes]',
  async () => {
    await using place = await temporaryDirectory();
    const run = await start(
      place.path,
      '(env -i setsid sleep 600 >/dev/null 2>&1 &); : >ready; while :; do sleep 0.05; done',
    );
    await run.told('ready');
    const { child, workers } = await findFamily(host, run.address);
    expect(workers.length).toBeGreaterThanOrEqual(2);
    if (child !== null) signalProcess(child, 'SIGKILL');
    expect(await run.exit()).toEqual({ code: 137 });
    await waitUntil(() => workers.every((worker) => !isAlive(worker)), { what: 'the end of the strays' });
  },
);

sandboxTest('everything ends with its shim [sandbox processes]', async () => {
  await using place = await temporaryDirectory();
  const run = await start(
    place.path,
    '(env -i setsid sleep 600 >/dev/null 2>&1 &); : >ready; while :; do sleep 0.05; done',
  );
  await run.told('ready');
  const { workers, helpers } = await findFamily(host, run.address);
  signalProcess(run.identity, 'SIGKILL');
  await waitUntil(() => workers.every((worker) => !isAlive(worker)), { what: 'the end of the sandbox' });
  for (const helper of helpers) signalProcess(helper, 'SIGKILL');
});

sandboxTest('halting stops the command at any moment, and continuing resumes it', async () => {
  await using place = await temporaryDirectory();
  const run = await start(place.path, 'while :; do echo tick; sleep 0.02; done');
  await haltSession(host, run.address);
  const { child, workers } = await findFamily(host, run.address);
  expect(child).not.toBeNull();
  // A parent that is blocked until its halted child has exec'ed counts as halted, too.
  expect(workers.every(({ stopped, blocked }) => stopped || blocked)).toBe(true);
  expect(workers.some(({ stopped }) => stopped)).toBe(true);
  const before = run.output().length;
  await continueSession(host, run.address);
  await waitUntil(() => run.output().length > before, { what: 'more output' });
  await stopSession(host, { ...run.address, graceMs: 0 });
  await run.nothingLeft();
});
