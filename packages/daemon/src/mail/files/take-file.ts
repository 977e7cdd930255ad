import { crashPoint } from '@pawl/schema/crash-point';
import { limits } from '@pawl/schema/limit';
import type { Agent } from '@pawl/schema/record';
import { findAgents } from '@pawl/store/agents/agents';
import { countPending, mailById } from '@pawl/store/mail/mail';
import { unlink } from 'node:fs/promises';
import { relative } from 'node:path';
import { redactValue } from '../../accounts/redaction.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import type { DroppedMail } from './dropped-file.ts';
import { FileRefused, isSame, readDropped, refusalOf } from './dropped-file.ts';
import { storeBody } from '../mail-body.ts';
import { recordMail } from '../mail-record.ts';
import { ownerOf } from './mailbox-directory.ts';
import { reportRefused } from './refused-files.ts';

/**
 * Imports a file that was dropped into a mailbox directory, or reports once why not; `later` if it may be incomplete.
 * Anyone who can write to the home can drop one, including agents, so a file proves nothing about its author. Therefore
 * it never speaks for the person, who has `pawl send`; it must name a living agent of the project who may write to this
 * recipient (7.6), and the mail's first line says that the name was not checked. Mail between agents carries no
 * authority anyway.
 */
export async function takeFile(platform: SessionPlatform, path: string): Promise<'done' | 'later'> {
  const { home, store } = platform;
  const [projectName = '', agentName = ''] = relative(home.messages, path).split('/');
  const { project, agent } = await ownerOf(store.db, projectName, agentName);
  // Leave files in the mailboxes of the dead.
  if (agent !== null && agent.endedAt !== null) return 'done';
  try {
    if (agent === null) throw new FileRefused(`there is no agent ${agentName} in ${projectName}`);
    const dropped = withoutSecrets(platform, await readDropped(path, platform.clock()));
    await record(platform, { dropped, to: agent, projectId: project?.id ?? null });
    crashPoint('mirror.after_import');
    if (await isSame(path, dropped.stat)) await unlink(path);
    return 'done';
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal.later) return 'later';
    await reportRefused(platform, { path, reason: refusal.message, agent, projectId: project?.id ?? null });
    return 'done';
  }
}

/** Any program may write such a file, so its text may contain secrets. */
function withoutSecrets(platform: SessionPlatform, { stat, mailId, ...words }: DroppedMail): DroppedMail {
  return { ...(redactValue(platform, words)?.value as typeof words), stat, mailId };
}

/** Stores a dropped mail, unless it is stored already. */
async function record(
  platform: SessionPlatform,
  { dropped, to, projectId }: { dropped: DroppedMail; to: Agent; projectId: string | null },
): Promise<void> {
  const { db } = platform.store;
  if ((await mailById(db, dropped.mailId)) !== null) return;
  if (dropped.to !== undefined && dropped.to !== to.alias && dropped.to !== to.id)
    throw new FileRefused(`it is to ${dropped.to}, but is in the mailbox of ${to.alias}`);
  const [from] = await findAgents(db, dropped.from, { projectId: projectId ?? '' });
  const isNamed = from !== undefined && (from.alias === dropped.from || from.id === dropped.from);
  if (!isNamed || from.endedAt !== null || from.parentId === null)
    throw new FileRefused(`it is from ${dropped.from}, which is not a living agent of the project`);
  if ((await countPending(db, to.id)) >= limits.pendingMail)
    throw new FileRefused(`${limits.pendingMail} mails wait for ${to.alias} already`);
  const text = `[From a file in the mailbox. That ${from.alias} wrote it was not checked.]\n\n${dropped.body}`;
  if (dropped.body.trim() === '') throw new FileRefused('the mail is empty');
  const body = await storeBody(platform, text, dropped.mailId);
  await platform.store.write(async (tx) => {
    if ((await mailById(tx.db, dropped.mailId)) !== null) return;
    await recordMail(tx, { from, to, kind: 'message' }, body);
  });
}
