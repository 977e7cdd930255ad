import { hasErrno, messageOf, PawlError } from '@pawl/schema/error';
import { encodeId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import * as z from 'zod';

/** What a foreign program puts into a mailbox directory. Whatever else it says is nothing to us. */
const fileSchema = z.object({
  from: z.string().min(1).max(128),
  to: z.string().min(1).max(128).optional(),
  body: z.string(),
  status: z.string().max(64).optional(),
});

export type DroppedMail = z.infer<typeof fileSchema> & {
  /** The same for the same file, and another for every other one, be its words the same. */
  mailId: string;
  stat: BigIntStats;
};

/** A file that is not taken in, and why; `later` when it may only be half written. */
export class FileRefused extends Error {
  readonly later: boolean;
  constructor(reason: string, { later = false, cause }: { later?: boolean; cause?: unknown } = {}) {
    super(reason, { cause });
    this.later = later;
  }
}

/** A file that was changed so recently may still be being written. */
const freshMs = 1_000;

/** Reads a dropped file; follows no link, opens nothing but a plain file, and reads a bounded number of bytes. */
export async function readDropped(path: string, now: number): Promise<DroppedMail> {
  const { text, stat } = await readPlain(path);
  // A time that lies ahead says nothing.
  const later = Math.abs(now - Number(stat.mtimeMs)) < freshMs;
  const parsed = fileSchema.safeParse(parseJson(text, later));
  if (!parsed.success) throw new FileRefused(`it is no mail: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`);
  const { status } = parsed.data;
  if (status !== undefined && status !== 'pending')
    throw new FileRefused(`only pending mail is taken in, not ${status}`);
  return { ...parsed.data, stat, mailId: idOfFile(path, stat, text) };
}

/** True while a path is the very file that was read. */
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
    if (!stat.isFile()) throw new FileRefused('it is no plain file');
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
 * A file is taken in once, although the daemon may die between the transaction and the file's removal: the mail's id follows
 * from which file it is. Somebody who drops the same words under the same name again has made another file.
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

/** Why a mail could not be written down, as the reason for which its file is refused; anything unforeseen is thrown on. */
export function refusalOf(error: unknown): FileRefused {
  if (error instanceof FileRefused) return error;
  if (error instanceof PawlError && ['forbidden', 'conflict', 'invalid_input', 'too_large'].includes(error.code))
    return new FileRefused(error.message, { cause: error });
  throw error;
}
