import { procTable } from './process-table-proc.ts';
import { psTable } from './process-table-ps.ts';

export type ProcessEntry = {
  pid: number;
  parent: number;
  group: number;
  /** The boot and start time of the process. With the pid, its identity. */
  start: string;
  /** True for a zombie. */
  defunct: boolean;
  /** True while halted by a signal such as SIGSTOP. */
  stopped: boolean;
  /** True while in uninterruptible sleep. It handles signals before it continues. */
  blocked: boolean;
  /** Processor time of itself and its waited-for children. */
  cpuMs: number;
  residentBytes: number;
  /** Changes with each exec, and so possibly with the environment; '' if unknown. */
  image: string;
  /** True if it is known to have no environment. */
  bare: boolean;
};

/** Access to other processes; one adapter reads `/proc`, the other runs `ps`. */
export type ProcessTable = {
  /** The process with this pid, or null. */
  read(pid: number): ProcessEntry | null;
  /** All visible processes except these pids. */
  list(except?: Pick<ReadonlySet<number>, 'has'>): ProcessEntry[];
  /**
   * The initial values of a variable in each process; null for one that shows no environment, as during an exec. Skips
   * processes that are gone or not ours.
   */
  variables(pids: readonly number[], name: string): Map<number, string[] | null>;
  /** The files of a process's stdout and stderr; empty if the system does not tell. */
  outputs(pid: number): string[];
  /** True if the process is a shell running this script; null while it has no command line, as when exiting. */
  runsScript(pid: number, path: string): boolean | null;
  /** The name by which a process's program was called, without directories; null if unknown. */
  program(pid: number): string | null;
  /** Parses the second and third line of an identity file into a start, or null. */
  parseStart(pid: number, boot: string, detail: string): string | null;
};

export const processTable: ProcessTable = process.platform === 'linux' ? procTable : psTable;

/** The start time as a number that increases within one boot. */
export function startOrder(start: string): number {
  return Number(start.slice(start.lastIndexOf('/') + 1));
}
