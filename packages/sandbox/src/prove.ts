import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { noLimits } from '@pawl/schema/launch-spec';
import { attacks, attackScript } from './attack.ts';
import type { Machine } from './bubblewrap.ts';
import { bubblewrap } from './bubblewrap.ts';
import { runBriefly } from './run-briefly.ts';

/** A property of the sandbox, and whether it withstood an attack on this machine. */
export type Proof = { name: string; proves: string; holds: boolean };

const limit = 48;
const bytes = 64 * 1024 * 1024;

/** The limits of the sandbox that is attacked. */
export const proofLimits = { memoryBytes: bytes, processes: limit, fileBytes: bytes } as const;

/**
 * Tries to break each property of the sandbox, in a scratch directory below `directory`. It joins these control groups
 * first, as a session does.
 */
export async function proveSandbox(
  machine: Machine,
  directory: string,
  groups: readonly string[] = [],
): Promise<Proof[]> {
  const scratch = await realpath(await mkdtemp(join(directory, 'sandbox-')));
  const outsider = spawn('sleep', ['60'], { stdio: 'ignore' });
  try {
    const end = await attack(machine, { scratch, pid: outsider.pid ?? 0, groups });
    const names = new Set(end.output.split('\n'));
    // A sandbox that did not run its script to the end proves nothing.
    const ran = end.code === 0;
    return [
      ...attacks.map(({ name, proves }) => ({ name, proves, holds: ran && !names.has(name) })),
      { name: 'survivor', proves: 'nothing outlives the command', holds: ran && !end.survived },
    ];
  } finally {
    outsider.kill('SIGKILL');
    await rm(scratch, { recursive: true, force: true });
  }
}

type Scene = { scratch: string; pid: number; groups: readonly string[] };

async function attack(machine: Machine, { scratch, pid, groups }: Scene) {
  const place = (name: string) => join(scratch, name);
  for (const name of ['worktree', 'tmp', 'outside', 'hidden']) await mkdir(place(name));
  await writeFile(join(place('outside'), 'kept'), 'kept');
  await writeFile(join(place('hidden'), 'secret'), 'secret');
  const launch = bubblewrap(machine)({
    command: '/bin/sh',
    arguments: ['-c', attackScript(attacks)],
    environment: {
      outside: place('outside'),
      secret: join(place('hidden'), 'secret'),
      pid: String(pid),
      limit: String(limit),
      bytes: String(bytes),
    },
    directories: { working: place('worktree'), writable: [place('worktree'), place('tmp')], readable: [] },
    limits: noLimits,
    sandbox: {
      temporary: place('tmp'),
      mounts: [
        { at: place('hidden'), show: 'empty' },
        { at: place('outside'), show: 'readable', from: place('outside') },
      ],
      network: 'none',
      limits: proofLimits,
    },
  });
  const { command, arguments: words, environment } = launch;
  const enter = 'until [ "$1" = -- ]; do echo $$ >"$1/cgroup.procs"; shift; done; shift; exec "$@"';
  return runBriefly({
    command: '/bin/sh',
    arguments: ['-c', enter, 'sh', ...groups, '--', command, ...words],
    environment,
  });
}
