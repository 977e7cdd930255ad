import type { ChangeLaunch, LaunchSpec, Mount, SandboxLimits, SandboxSpec } from '@pawl/schema/launch-spec';
import { sandboxBounds } from './sandbox-limit.ts';

/** The facts about a machine that decide how bubblewrap is called. */
export type Machine = {
  /** The path of bubblewrap. */
  program: string;
  /** Directories with homes and sockets, which no sandbox shows. */
  hidden: readonly string[];
  /** Shared temporary directories, each replaced by the sandbox's own. */
  temporary: readonly string[];
  /** Directories of /proc with settings of the kernel. Bubblewrap leaves them writable for root, even without capabilities. */
  kernel: readonly string[];
};

/** Set in every sandbox, for programs that behave differently in one. */
const sandboxVariable = 'PAWL_SANDBOX';

/**
 * Confines launches with bubblewrap:
 *
 *   shim ──▶ bwrap (monitor) ──▶ bwrap (init of the pid namespace) ──▶ sh sets limits, exec ──▶ command
 *
 * The monitor ends with the shim, the init ends with the monitor, and everything in the namespace ends with the init. The
 * monitor ends once the command has, with its exit code.
 */
export function bubblewrap(machine: Machine): ChangeLaunch {
  return (launch) => (launch.sandbox === null ? launch : confined(machine, launch, launch.sandbox));
}

function confined(machine: Machine, launch: LaunchSpec, spec: SandboxSpec): LaunchSpec {
  const { working } = launch.directories;
  return {
    ...launch,
    command: machine.program,
    arguments: [
      ...isolation,
      ...(spec.network === 'none' ? ['--unshare-net'] : []),
      ...allMounts(machine, launch, spec).flatMap(mountArguments),
      '--chdir',
      working,
      '--',
      '/bin/sh',
      '-c',
      preparation(spec.limits),
      'sh',
      launch.command,
      ...launch.arguments,
    ],
    environment: { ...launch.environment, [sandboxVariable]: '1' },
  };
}

/** No namespace is shared but the network's, no capability is left, and no new user namespace can be made. */
const isolation = [
  '--unshare-user',
  '--unshare-ipc',
  '--unshare-pid',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--disable-userns',
  '--cap-drop',
  'ALL',
  '--die-with-parent',
  // The command leads its own process group, so that a signal to its group does not reach the shim.
  '--new-session',
];

type AnyMount = Mount | { at: string; show: 'devices' | 'processes' };

/** All mounts, those above others first. Sorting is stable, so among equals the last one stays on top. */
function allMounts(machine: Machine, { directories }: LaunchSpec, { temporary, mounts }: SandboxSpec): AnyMount[] {
  const list: AnyMount[] = [
    { at: '/', show: 'readable', from: '/' },
    { at: '/dev', show: 'devices' },
    { at: '/proc', show: 'processes' },
    ...machine.kernel.map((at) => ({ at, show: 'readable' as const, from: at })),
    ...machine.hidden.map((at) => ({ at, show: 'empty' as const })),
    ...machine.temporary.map((at) => ({ at, show: 'writable' as const, from: temporary })),
    ...directories.readable.map((at) => ({ at, show: 'readable' as const, from: at })),
    ...directories.writable.map((at) => ({ at, show: 'writable' as const, from: at })),
    ...mounts,
  ];
  return list.toSorted((a, b) => depthOf(a.at) - depthOf(b.at));
}

function depthOf(path: string): number {
  return path.split('/').filter((name) => name !== '').length;
}

function mountArguments(mount: AnyMount): string[] {
  const { at } = mount;
  switch (mount.show) {
    case 'readable':
      return ['--ro-bind', mount.from, at];
    case 'writable':
      return ['--bind', mount.from, at];
    case 'link':
      return ['--symlink', mount.to, at];
    case 'empty':
      return emptyDirectory(at);
    case 'devices':
      // Bubblewrap makes it in memory, writable and without a bound.
      return ['--dev', at, ...emptyDirectory(`${at}/shm`), '--remount-ro', at];
    case 'processes':
      return ['--proc', at];
  }
}

/** A directory in memory. */
function emptyDirectory(at: string): string[] {
  return ['--size', String(sandboxBounds.emptyBytes), '--tmpfs', at];
}

/**
 * The script that sets limits and becomes the command. Limits are set here, since the kernel counts the processes of a
 * user by user namespace. If memory runs out, the kernel ends sandboxed processes first.
 */
function preparation({ memoryBytes, processes, fileBytes }: SandboxLimits): string {
  const lines = [
    '{ echo 500 >/proc/self/oom_score_adj; } 2>/dev/null',
    ...(memoryBytes === null ? [] : [`ulimit -d ${Math.ceil(memoryBytes / 1024)}`]),
    // POSIX counts in blocks of 512 bytes.
    ...(fileBytes === null ? [] : [`ulimit -f ${Math.ceil(fileBytes / 512)}`]),
    // Bash and dash name it differently.
    ...(processes === null ? [] : [`ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null`]),
    'unset OLDPWD SHLVL',
    'exec "$@"',
  ];
  return lines.join('\n');
}
