import { readlinkSync } from 'node:fs';
import { sep } from 'node:path';
import { processTable } from './process-table.ts';

/** The living processes whose working directory is this one or below. Empty if the system does not tell. */
export function processesIn(directory: string): number[] {
  const below = directory.endsWith(sep) ? directory : directory + sep;
  return processTable
    .list()
    .filter(({ pid, defunct }) => !defunct && pid !== process.pid && `${workingDirectory(pid)}${sep}`.startsWith(below))
    .map(({ pid }) => pid);
}

function workingDirectory(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
