import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { forgetSettings, getSetting, setSetting, settingsWith } from '@pawl/store/settings';
import { createHash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import * as z from 'zod';
import { redact } from '../../accounts/redaction.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';

/**
 * Remembers reported refusals, one setting per mailbox, so that each file is reported once. Any agent can drop files,
 * so the number per mailbox is bounded; all mailboxes of unknown agents count as one.
 */
const refusedPrefix = 'mail_file:';

const mailboxSchema = z.object({
  mailbox: z.string(),
  told: z.array(z.object({ what: z.string(), file: z.string(), version: z.string(), at: z.number() })),
});
type Mailbox = z.infer<typeof mailboxSchema>;

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
    const known: Mailbox = { mailbox, told: [...told, { what, file, version, at: tx.now }] };
    await setSetting(tx, refusedPrefix + mailbox, known);
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
  for (const value of await settingsWith(store.db, refusedPrefix)) {
    const parsed = mailboxSchema.safeParse(value);
    if (!parsed.success) continue;
    const { mailbox, told } = parsed.data;
    const forgotten = new Set<string>();
    for (const { what, file, version, at } of told)
      if (now - at >= limits.memoryMs && (await versionOf(join(home.messages, file))) !== version) forgotten.add(what);
    if (forgotten.size === 0) continue;
    await store.write(async (tx) => {
      const left = (await reportedOf(tx.db, mailbox)).told.filter(({ what }) => !forgotten.has(what));
      if (left.length > 0) await setSetting(tx, refusedPrefix + mailbox, { mailbox, told: left });
      else await forgetSettings(tx, refusedPrefix + mailbox, Number.MAX_SAFE_INTEGER);
    });
  }
}

async function reportedOf(db: Parameters<typeof getSetting>[0], mailbox: string): Promise<Mailbox> {
  const parsed = mailboxSchema.safeParse(await getSetting(db, refusedPrefix + mailbox));
  return parsed.success ? parsed.data : { mailbox, told: [] };
}

/** Identifies a file's version: another file under the same name is checked again. */
async function versionOf(path: string): Promise<string> {
  const found = await lstat(path, { bigint: true }).catch(() => null);
  return found === null ? '' : [found.ino, found.mtimeNs, found.size].join(':');
}
