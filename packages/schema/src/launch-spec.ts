/**
 * A launch as data: everything about a command that a sandbox may have to change. Sessions and checks build one and
 * hand it to the process host.
 */
export type LaunchSpec = {
  command: string;
  arguments: readonly string[];
  /** The complete environment of the command, besides PWD and the marker (and what bash adds if it is /bin/sh). */
  environment: Readonly<Record<string, string>>;
  directories: {
    /** The working directory. A missing one gives exit code 126. */
    working: string;
    /** Directories that Pawl gives the command to write, with the working directory. Repositories are not listed. */
    writable: readonly string[];
    /** Directories that Pawl gives it to read beside those, such as its prompt files. */
    readable: readonly string[];
  };
  limits: LaunchLimits;
  /** How the command is confined; null runs it with all rights of the user. */
  sandbox: SandboxSpec | null;
};

/**
 * The view of a sandboxed command. It sees the machine's files read-only, without homes and sockets, and writes only to
 * its writable directories and to what is listed here.
 */
export type SandboxSpec = {
  /** Its own temporary directory, which it also sees as /tmp. */
  temporary: string;
  /** Places that differ from the machine's. A deeper one is mounted after those above it; the last of equals wins. */
  mounts: readonly Mount[];
  /** `none` leaves only a loopback of its own. */
  network: 'host' | 'none';
  limits: SandboxLimits;
};

/** A place in the sandbox. All paths are absolute and canonical. */
export type Mount =
  | { at: string; show: 'writable' | 'readable'; from: string }
  /** An empty directory in memory, whose content ends with the sandbox. */
  | { at: string; show: 'empty' }
  | { at: string; show: 'link'; to: string };

/**
 * Bounds of one process, except `processes`, which counts those of the whole sandbox; null for no limit. Where a control
 * group enforces it, `memoryBytes` also bounds all processes together.
 */
export type SandboxLimits = {
  memoryBytes: number | null;
  processes: number | null;
  fileBytes: number | null;
};

export type LaunchLimits = {
  /** How long the command may run; null for no limit. */
  runMs: number | null;
  /** How many bytes it may print; null for no limit. */
  outputBytes: number | null;
};

export const noLimits: LaunchLimits = { runMs: null, outputBytes: null };

/** A change of launches: from the one that was asked for to the one that is started. */
export type ChangeLaunch = (launch: LaunchSpec) => LaunchSpec;
