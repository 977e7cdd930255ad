import { hasErrno, messageOf, PawlError } from '@pawl/schema/error';
import { encodeId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import * as z from 'zod';

/** A mail that another program drops into a mailbox directory. Ignores other fields. */
const fileSchema = z.object({
  from: z.string().min(1).max(128),
  to: z.string().min(1).max(128).optional(),
  body: z.string(),
  status: z.string().max(64).optional(),
});

export type DroppedMail = z.infer<typeof fileSchema> & {
  /** Derived from the file: stable for the same file, different for any other, even with the same text. */
  mailId: string;
  stat: BigIntStats;
};

/** A file that is refused, and why; `later` if it may be incomplete. */
export class FileRefused extends Error {
  readonly later: boolean;
  constructor(reason: string, { later = false, cause }: { later?: boolean; cause?: unknown } = {}) {
    super(reason, { cause });
    this.later = later;
  }
}

/** A file modified this recently may still be incomplete. */
const freshMs = 1_000;

/** Reads a dropped file. Follows no link, opens only a plain file, and reads a bounded number of bytes. */
export async function readDropped(path: string, now: number): Promise<DroppedMail> {
  const { text, stat } = await readPlain(path);
  // A time far in the future is meaningless.
  const later = Math.abs(now - Number(stat.mtimeMs)) < freshMs;
  const parsed = fileSchema.safeParse(parseJson(text, later));
  if (!parsed.success)
    throw new FileRefused(`it is not a mail: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`);
  const { status } = parsed.data;
  if (status !== undefined && status !== 'pending')
    throw new FileRefused(`only pending mail is accepted, not ${status}`);
  return { ...parsed.data, stat, mailId: idOfFile(path, stat, text) };
}

/** True while a path is still the file that was read. */
export async function isSame(path: string, stat: BigIntStats): Promise<boolean> {
  try {
    const now = await lstat(path, { bigint: true });
    return now.ino === stat.ino && now.mtimeNs === stat.mtimeNs && now.size === stat.size;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}

async function readPlain(path: string): Promise<{ text: string; stat: BigIntStats }> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: unknown) => {
      if (hasErrno(error, 'ELOOP')) throw new FileRefused('it is a link', { cause: error });
      throw new FileRefused(`it cannot be read: ${messageOf(error)}`, { cause: error });
    },
  );
  try {
    const stat = await file.stat({ bigint: true });
    if (!stat.isFile()) throw new FileRefused('it is not a plain file');
    if (stat.size > limits.mailFileBytes) throw new FileRefused(`it has more than ${limits.mailFileBytes} bytes`);
    const buffer = Buffer.alloc(Number(stat.size));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return { text: buffer.toString('utf8', 0, bytesRead), stat };
  } finally {
    await file.close();
  }
}

function parseJson(text: string, later: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new FileRefused('it is not JSON', { later, cause });
  }
}

/**
 * Derives the mail's id from the file, so that it is imported once even if the daemon dies between the transaction and
 * the removal of the file. Dropping the same text under the same name again makes another file.
 */
function idOfFile(path: string, { ino, dev, mtimeNs, size }: BigIntStats, text: string): string {
  const words = JSON.stringify([path, String(dev), String(ino), String(mtimeNs), String(size), text]);
  for (let attempt = 0; ; attempt++) {
    const bytes = createHash('sha256').update(`${attempt}:${words}`).digest().subarray(0, 16);
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const id = encodeId(bytes);
    if (/^[A-Za-z0-9]/.test(id)) return id;
  }
}

/** Converts an error from storing a mail into a refusal; rethrows unexpected ones. */
export function refusalOf(error: unknown): FileRefused {
  if (error instanceof FileRefused) return error;
  if (error instanceof PawlError && ['forbidden', 'conflict', 'invalid_input', 'too_large'].includes(error.code))
    return new FileRefused(error.message, { cause: error });
  throw error;
}
