import type { HooksRecord } from '@pawl/schema/hooks-record';
import { hooksRecordSchema } from '@pawl/schema/hooks-record';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const none = (root: string): HooksRecord => ({ root, files: {}, madeDirectory: false });

/** Reads the record of a checkout; an empty one if there is none, or it is unreadable. */
export function readHooksRecord(directory: string, root: string): HooksRecord {
  try {
    const record = hooksRecordSchema.parse(JSON.parse(readFileSync(fileOf(directory, root), 'utf8')));
    return record.root === root ? record : none(root);
  } catch {
    // Without a record, the hooks are removed from the files as they are now.
    return none(root);
  }
}

/** Writes the record atomically, before any of the files it is about. */
export function writeHooksRecord(directory: string, record: HooksRecord): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = fileOf(directory, record.root);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
  renameSync(draft, path);
}

export function dropHooksRecord(directory: string, root: string): void {
  rmSync(fileOf(directory, root), { force: true });
}

/** Adds an edit to the record. Of several edits in a row, the text before the first counts. */
export function withEdit(
  record: HooksRecord,
  { file, before, after }: { file: string; before: string | null; after: string },
): HooksRecord {
  const known = record.files[file];
  const original = known !== undefined && known.after === before ? known.before : before;
  return { ...record, files: { ...record.files, [file]: { before: original, after } } };
}

/** A file's text without Pawl's part: as it was before, or, if it has changed since, as `otherwise` makes it. */
export function restored(
  record: HooksRecord,
  file: string,
  text: string | null,
  otherwise: (text: string) => string | null,
): string | null {
  const known = record.files[file];
  if (known !== undefined && known.after === text) return known.before;
  return text === null ? null : otherwise(text);
}

function fileOf(directory: string, root: string): string {
  return join(directory, `${createHash('sha256').update(root).digest('hex').slice(0, 32)}.json`);
}
