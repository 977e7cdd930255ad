import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '@pawl/testing/wait-until';
import { afterEach, beforeEach } from 'vitest';
import { createHost } from '../../src/host.ts';
import { groupOf } from '../../src/session/control-group.ts';
import { findSession } from '../../src/session/find-session.ts';
import type { SessionSpec } from '../../src/session/start-session.ts';
import { stopSession } from '../../src/session/stop-session.ts';
import { strayProcesses } from '../../src/session/stray.ts';

/** The host of a test file. */
export const host = createHost();

/** The parts of a specification that tests replace. */
export type SpecChanges = Partial<Omit<SessionSpec, 'launch'>> & {
  command?: string;
  args?: string[];
  cwd?: string;
  env?: Record<string, string>;
};

export type Workspace = {
  readonly root: string;
  /** A specification that runs `script` with sh; everything in it can be replaced. */
  spec(script: string, changes?: SpecChanges): SessionSpec;
};

/** Gives each test its own directory, and ends every process of its sessions afterwards. */
export function useWorkspace(): Workspace {
  let root = '';
  let specs: SessionSpec[] = [];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'pawl-host-'));
    specs = [];
  });
  afterEach(async () => {
    for (const { dir, marker } of specs.filter((spec) => isMarked(spec) || groupOf(spec.dir, spec.marker) !== null)) {
      const { identity } = await findSession(dir);
      await stopSession(host, { identity, dir, marker, graceMs: 0 });
    }
    rmSync(root, { recursive: true, force: true });
  });
  return {
    get root() {
      return root;
    },
    spec(script, changes = {}) {
      const { command = 'sh', args = ['-c', script], cwd = root, env, ...others } = changes;
      const spec: SessionSpec = {
        dir: join(root, `session ${specs.length}`),
        launch: {
          command,
          arguments: args,
          environment: env ?? { PATH: process.env['PATH'] ?? '' },
          directories: { working: cwd, writable: [cwd], readable: [] },
          limits: { runMs: null, outputBytes: null },
          sandbox: null,
        },
        marker: `test-${randomUUID()}`,
        prompt: '',
        stdin: 'fifo',
        ...others,
      };
      specs.push(spec);
      return spec;
    },
  };
}

/** True when a process of this session is left; a marker that was refused has none. */
function isMarked({ marker }: SessionSpec): boolean {
  return !marker.includes(' ') && strayProcesses(marker).length > 0;
}

/** Polls until `look` gives something. */
export function eventually<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  return waitUntil(look, { what: look.toString() });
}

/** Waits for the recorded exit code of a session. */
export async function exitCode(dir: string): Promise<number> {
  const { code } = await eventually(async () => (await findSession(dir)).exit);
  return code;
}

/** What a file of the session holds now, or '' when there is none. */
export function textOf(dir: string, name: string): string {
  try {
    return readFileSync(join(dir, name), 'utf8');
  } catch {
    return '';
  }
}

/** A name under which bash behaves as the system's POSIX shell. */
export function bashAsSh(root: string): string {
  const path = join(root, 'sh');
  if (!existsSync(path)) symlinkSync('/bin/bash', path);
  return path;
}
