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
};

/** What the host needs to know about other processes; one adapter reads `/proc`, the other asks `ps`. */
export type ProcessTable = {
  /** The process with this pid, or null when there is none. */
  read(pid: number): ProcessEntry | null;
  /** All processes that can be seen. */
  list(): ProcessEntry[];
  /** True when the process was started with this variable in its environment. */
  hasVariable(pid: number, name: string, value: string): boolean;
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
