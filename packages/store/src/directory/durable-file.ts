import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Renames a finished file into place so that the new name survives a power cut. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  syncDirectory(dirname(to));
  if (dirname(from) !== dirname(to)) syncDirectory(dirname(from));
}

/** Writes a small private file atomically: readers and the next start find either the old or the new content. */
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

/** Makes a file's content survive a power cut. Never for a file that SQLite has open. */
export function syncFile(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const syncDirectory = syncFile;
