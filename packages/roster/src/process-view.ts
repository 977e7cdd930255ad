import { PawlError } from '@pawl/schema/error';

export type SeenProcess = {
  pid: number;
  parent: number;
  /** Its user id; null if unknown. */
  user: number | null;
  /** With the pid, its identity: boot and start time, in the process host's format. */
  start: string;
  /** The same in milliseconds since 1970, if known. */
  startedAt: number | null;
  name: string;
  /** Its command line; empty if hidden. */
  words: string[];
};

/** A process of which not even the name is visible. */
export type HiddenProcess = { pid: number; user: number | null };

/** The directory of a process: known, deleted meanwhile, gone with the process, or unreadable. */
export type Directory =
  | { state: 'at'; path: string }
  | { state: 'deleted'; path: string }
  | { state: 'gone' }
  | UnreadableDirectory;
type UnreadableDirectory = { state: 'unreadable'; reason: string };

/**
 * Access to the system's processes; one adapter reads `/proc`, the other runs `ps` and `lsof`, tests bring their own.
 */
export type ProcessView = {
  /** All running processes. Throws `unavailable` if the system does not tell. */
  list(): { processes: SeenProcess[]; hidden: HiddenProcess[] };
  /** One process, if it can be read without listing all; null if it is not visible. */
  one?(pid: number): SeenProcess | null;
  /** The directory of each process. */
  directories(pids: readonly number[]): Map<number, Directory>;
  /** A variable's initial value in a process; null if unset or unknown. */
  variable(pid: number, name: string): string | null;
};

/** The failure of a survey, which must not be taken for "alone". */
export function cannotTell(reason: string, cause?: unknown): PawlError {
  return new PawlError('unavailable', `Cannot tell who else is here: ${reason}.`, {
    hint: 'Do not recover and do not pull; work as a helper until it is clear.',
    cause,
  });
}
