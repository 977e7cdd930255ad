import { procTable } from './process-table-proc.ts';
import { psTable } from './process-table-ps.ts';

/** One process as the system shows it. */
export type ProcessEntry = {
  pid: number;
  parent: number;
  group: number;
  /** The boot and the moment that the process began in. With the pid, that is a process's identity. */
  start: string;
  /** True for a process that has ended and that nobody has waited for. */
  defunct: boolean;
  /** True while it is halted by a signal such as SIGSTOP. */
  stopped: boolean;
  /** True while it waits inside the kernel and takes no signal. It acts on them before it goes on by itself. */
  blocked: boolean;
  /** The processor time that it and the children it has waited for took. */
  cpuMs: number;
  residentBytes: number;
  /** Changes whenever the process becomes another program, and so may have another environment; '' when unknown. */
  image: string;
  /** True when it is known to have no environment at all. */
  bare: boolean;
};

/** What the host needs to know about other processes; one adapter reads `/proc`, the other asks `ps`. */
export type ProcessTable = {
  /** The process with this pid, or null when there is none. */
  read(pid: number): ProcessEntry | null;
  /** All processes that can be seen, but those with these pids. */
  list(except?: Pick<ReadonlySet<number>, 'has'>): ProcessEntry[];
  /**
   * The values that each process was started with for a variable; null for one that shows no environment, as it is while
   * it becomes another program. A process that is gone or not ours to see is left out.
   */
  variables(pids: readonly number[], name: string): Map<number, string[] | null>;
  /** The files to which a process writes its output and its errors; none where the system does not tell. */
  outputs(pid: number): string[];
  /** True when the process is a shell that runs this script file; null while it has no command line, as at its end. */
  runsScript(pid: number, path: string): boolean | null;
  /** Turns the second and third line of an identity file into a start, or null when they are not valid. */
  parseStart(pid: number, boot: string, detail: string): string | null;
};

/** The table of the system that we run on. */
export const processTable: ProcessTable = process.platform === 'linux' ? procTable : psTable;

/** The moment in a start as a number that rises with time within one boot. */
export function startOrder(start: string): number {
  return Number(start.slice(start.lastIndexOf('/') + 1));
}
