import { existsSync, realpathSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { noLimits } from '@pawl/schema/launch-spec';
import type { Machine } from './bubblewrap.ts';
import { bubblewrap } from './bubblewrap.ts';
import { runBriefly } from './run-briefly.ts';

/** Whether this machine can confine processes, and how; or why not, and what a person can do about it. */
export type Sandbox =
  | { works: true; machine: Machine; version: string }
  | { works: false; why: 'unsupported' | 'missing' | 'too-old' | 'refused'; reason: string; hint: string };

/** Older versions cannot keep a sandbox from creating user namespaces. */
const oldest = [0, 8] as const;

/** Looked up before the PATH, so that the system's own bubblewrap takes precedence. */
const usualDirectories = ['/usr/bin', '/usr/local/bin', '/bin'];

/** Tries to start a sandbox with the bubblewrap in one of these directories, else in the PATH. */
export async function probeSandbox(
  environment: NodeJS.ProcessEnv = process.env,
  first: readonly string[] = usualDirectories,
): Promise<Sandbox> {
  if (process.platform !== 'linux') return unsupported;
  const program = await findBubblewrap([...first, ...(environment['PATH'] ?? '').split(delimiter)]);
  if (program === null) return missing;
  const { output } = await runBriefly({ command: program, arguments: ['--version'] });
  const [version = '', major, minor] = /(\d+)\.(\d+)\S*/.exec(output) ?? [];
  if (isTooOld(Number(major), Number(minor))) return tooOld(program, version);
  const machine = machineWith(program, environment);
  const tried = await runBriefly(trial(machine));
  return tried.code === 0 ? { works: true, machine, version } : refused(tried.output);
}

/** Also true for a version that could not be read. */
function isTooOld(major: number, minor: number): boolean {
  return !(major > oldest[0] || (major === oldest[0] && minor >= oldest[1]));
}

async function findBubblewrap(directories: readonly string[]): Promise<string | null> {
  for (const directory of directories.filter((each) => isAbsolute(each))) {
    const program = join(directory, 'bwrap');
    const found = await access(program, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return program;
  }
  return null;
}

/** Homes, and the directory with the sockets of other programs, such as those of containers and the desktop. */
function machineWith(program: string, environment: NodeJS.ProcessEnv): Machine {
  const places = ['/home', '/root', '/run', homedir(), environment['HOME'] ?? ''];
  const kernel = ['sys', 'irq', 'bus', 'fs', 'acpi', 'scsi'].map((name) => `/proc/${name}`);
  return {
    program,
    hidden: canonical(places),
    temporary: canonical(['/tmp', '/var/tmp']),
    kernel: canonical(kernel),
  };
}

/** Existing directories by their real paths, each once. The root is nobody's home. */
function canonical(paths: readonly string[]): string[] {
  const found = paths.filter((path) => isAbsolute(path) && existsSync(path)).map((path) => realpathSync(path));
  return [...new Set(found)].filter((path) => path !== '/');
}

/** The smallest launch in a sandbox: it has a pid namespace, and no capability. */
function trial(machine: Machine) {
  return bubblewrap({ ...machine, temporary: [] })({
    command: '/bin/sh',
    arguments: ['-c', 'read -r pid rest </proc/self/stat && [ "$pid" -lt 100 ] && ! echo 2>/dev/null >/etc/pawl-probe'],
    environment: {},
    directories: { working: '/', writable: [], readable: [] },
    limits: noLimits,
    sandbox: {
      temporary: '/tmp',
      mounts: machine.temporary.map((at) => ({ at, show: 'empty' as const })),
      network: 'none',
      limits: { memoryBytes: null, processes: null, fileBytes: null },
    },
  });
}

const unsupported: Sandbox = {
  works: false,
  why: 'unsupported',
  reason: 'There is a sandbox on Linux only.',
  hint: 'Run the daemon in a container or a virtual machine to confine agents.',
};

const missing: Sandbox = {
  works: false,
  why: 'missing',
  reason: 'bubblewrap (bwrap) is not installed.',
  hint: `Install it (Debian: apt-get install bubblewrap), then run \`pawl down\` and \`pawl up\`.`,
};

function tooOld(program: string, version: string): Sandbox {
  return {
    works: false,
    why: 'too-old',
    reason: `${program} ${version === '' ? 'has no readable version' : `is version ${version}`}, and ${oldest.join('.')} or newer is needed.`,
    hint: `Install a newer bubblewrap, then run \`pawl down\` and \`pawl up\`.`,
  };
}

function refused(output: string): Sandbox {
  return {
    works: false,
    why: 'refused',
    reason: `The system does not allow a sandbox: ${firstLine(output) || 'bubblewrap failed'}.`,
    hint: `Allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, or an AppArmor profile for bwrap), then run \`pawl down\` and \`pawl up\`.`,
  };
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]?.slice(0, 300) ?? '';
}
