import { PawlError } from '@pawl/schema/error';

/** One process as a roster needs to see it. */
export type SeenProcess = {
  pid: number;
  parent: number;
  /** Who it belongs to; null where the system does not tell. */
  user: number | null;
  /** With the pid, its identity: the boot and the moment that it began in, as the process host writes them. */
  start: string;
  /** The same as milliseconds since 1970, where that is known. */
  startedAt: number | null;
  name: string;
  /** Its command line; empty where it shows none. */
  words: string[];
};

/** A process of which not even the name can be seen. */
export type HiddenProcess = { pid: number; user: number | null };

/** Where a process works: a directory, one that was deleted meanwhile, nowhere since it has left, or nobody can say. */
export type Directory =
  | { state: 'at'; path: string }
  | { state: 'deleted'; path: string }
  | { state: 'gone' }
  | UnreadableDirectory;
type UnreadableDirectory = { state: 'unreadable'; reason: string };

/** What a roster asks the system; one adapter reads `/proc`, the other asks `ps` and `lsof`, tests bring their own. */
export type ProcessView = {
  /** Every process that runs. Throws `unavailable` when the system does not tell. */
  list(): { processes: SeenProcess[]; hidden: HiddenProcess[] };
  /** One process, where it can be read without looking at all of them; null when nothing is seen of it. */
  one?(pid: number): SeenProcess | null;
  /** Where each of these works. */
  directories(pids: readonly number[]): Map<number, Directory>;
  /** What a variable was when the process began; null when it was not set, or nobody can say. */
  variable(pid: number, name: string): string | null;
};

/** The failure of a roster that cannot be made: whoever asked must not take that for being alone. */
export function cannotTell(reason: string, cause?: unknown): PawlError {
  return new PawlError('unavailable', `It cannot be told who else is here: ${reason}.`, {
    hint: 'Do not recover and do not pull; work as a helper until it is clear.',
    cause,
  });
}
