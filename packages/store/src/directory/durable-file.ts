import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Renames a finished file into place and makes the new name survive a power cut. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  syncDirectory(dirname(to));
  if (dirname(from) !== dirname(to)) syncDirectory(dirname(from));
}

/** Writes a small private file so that a reader, or the next start, finds the old or the new content and nothing between. */
export function writeDurably(path: string, content: string): void {
  const file = openSync(`${path}.tmp`, 'w', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameDurably(`${path}.tmp`, path);
}

/** Makes the content of a file survive a power cut. Never for a file that SQLite has open. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const syncDirectory = syncFile;
