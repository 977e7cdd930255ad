import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { json, text } from '@pawl/store/facts/fact-column';
import type { FactOf } from '@pawl/store/facts/fact-table';
import { factTable } from '@pawl/store/facts/fact-table';
import type { Database } from '@pawl/store/tables';
import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import * as z from 'zod';
import { redact } from '../../accounts/redaction.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';

/**
 * The reported refusals of each mailbox, so that each file is reported once. Any agent can drop files, so the number per
 * mailbox is bounded; all mailboxes of unknown agents count as one.
 */
export const refusedFiles = factTable('refused_mail_files', ['mailbox'], {
  mailbox: text,
  told: json(z.array(z.object({ what: z.string(), file: z.string(), version: z.string(), at: z.number() })).catch([])),
});
type Mailbox = FactOf<typeof refusedFiles>;

type RefusedFile = { path: string; reason: string; agent: Agent | null; projectId: string | null };

/** Reports a refused file: once per version and reason, and a bounded number of times per mailbox. */
export async function reportRefused(
  platform: SessionPlatform,
  { path, agent, projectId, ...told }: RefusedFile,
): Promise<void> {
  const reason = redact(platform, told.reason);
  const mailbox = agent?.id ?? 'nobody';
  const file = redact(platform, relative(platform.home.messages, path));
  const version = await versionOf(path);
  const what = createHash('sha256')
    .update(JSON.stringify([file, version, reason]))
    .digest('base64url')
    .slice(0, 22);
  const isNew = ({ told }: Mailbox) =>
    told.length < limits.mailFileRefusals && !told.some((each) => each.what === what);
  if (!isNew(await reportedOf(platform.store.db, mailbox))) return;
  await platform.store.write(async (tx) => {
    const { told } = await reportedOf(tx.db, mailbox);
    if (!isNew({ mailbox, told })) return;
    const isLast = told.length === limits.mailFileRefusals - 1;
    await refusedFiles.set(tx, { mailbox, told: [...told, { what, file, version, at: tx.now }] });
    tx.emit({
      type: 'mail.file_refused',
      projectId,
      agentId: agent?.id ?? null,
      data: { file, reason: isLast ? `${reason}; further files here are not reported for a day` : reason },
    });
  });
}

/** Forgets reports older than a day about files that are gone or have changed. */
export async function forgetRefused(platform: SessionPlatform, now: number): Promise<void> {
  const { store, home } = platform;
  for (const { mailbox, told } of await refusedFiles.all(store.db)) {
    const forgotten = new Set<string>();
    for (const { what, file, version, at } of told)
      if (now - at >= limits.memoryMs && (await versionOf(join(home.messages, file))) !== version) forgotten.add(what);
    if (forgotten.size === 0) continue;
    await store.write(async (tx) => {
      const left = (await reportedOf(tx.db, mailbox)).told.filter(({ what }) => !forgotten.has(what));
      if (left.length > 0) await refusedFiles.set(tx, { mailbox, told: left });
      else await refusedFiles.delete(tx, { mailbox });
    });
  }
}

async function reportedOf(db: Database, mailbox: string): Promise<Mailbox> {
  return (await refusedFiles.get(db, { mailbox })) ?? { mailbox, told: [] };
}

/** Identifies a file's version: another file under the same name is checked again. */
async function versionOf(path: string): Promise<string> {
  const found = await lstat(path, { bigint: true }).catch(() => null);
  return found === null ? '' : [found.ino, found.mtimeNs, found.size].join(':');
}
