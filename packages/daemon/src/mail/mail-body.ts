import { checkBody } from '@pawl/core/mail/mail';
import { cutBytes } from '@pawl/core/shorten';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Mail } from '@pawl/schema/mail';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Platform } from '../platform/platform.ts';

/** A body ready to store: the row has all of it, or its beginning and the name of a file. */
export type StoredBody = { id: string; text: string; file: string | null; bytes: number };

/** How much of a long mail its row keeps. */
const excerptBytes = 2_000;

/**
 * Checks a text and writes a long one to a file named by the mail's id, durable before it is announced. A given id may
 * belong to an interrupted attempt, and is stored again.
 */
export async function storeBody({ home }: Platform, text: string, id = newId()): Promise<StoredBody> {
  const bytes = checkBody(text);
  if (bytes <= limits.mailBytes) return { id, text, file: null, bytes };
  const file = `${id}.txt`;
  await mkdir(home.mail, { recursive: true, mode: 0o700 });
  await rm(join(home.mail, `${file}.new`), { force: true });
  const handle = await open(join(home.mail, `${file}.new`), 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(join(home.mail, `${file}.new`), join(home.mail, file));
  const directory = await open(home.mail, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
  return { id, text: cutBytes(text, excerptBytes), file, bytes };
}

export async function wholeBody({ home }: Platform, mail: Mail): Promise<string> {
  return mail.bodyFile === null ? mail.body : readFile(join(home.mail, mail.bodyFile), 'utf8');
}
