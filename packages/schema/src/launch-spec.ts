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
