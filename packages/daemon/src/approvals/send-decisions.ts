import { sendInput } from '@pawl/host/session/input';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { sessionById } from '@pawl/store/sessions/sessions';
import { markApprovalsSent, unsentApprovals } from '@pawl/store/sessions/approvals';
import { approvalAnswerLine } from '@pawl/wire/approval-line';
import type { Platform } from '../platform/platform.ts';
import { sessionDirectory } from '../platform/platform.ts';

/**
 * Writes recorded decisions to a session, then records that. After a crash in between they are written again: a CLI
 * ignores an answer to a request that it has an answer for. False if the session is not reading now.
 */
export async function sendDecisions(
  platform: Platform,
  sessionId: string,
  { freshLine }: { freshLine: boolean },
): Promise<boolean> {
  const { store, home, host } = platform;
  const unsent = await unsentApprovals(store.db, sessionId);
  const session = await sessionById(store.db, sessionId);
  let isReading = session !== null && session.endedAt === null;
  const written: string[] = [];
  try {
    for (const { id, nativeId, decision, reason } of isReading ? unsent : []) {
      const answer = { requestId: nativeId, allowed: decision === 'allow', reason: reason ?? 'denied' };
      const line = approvalAnswerLine(answer);
      await sendInput(host, sessionDirectory(home, sessionId), line, { freshLine: freshLine && written.length === 0 });
      written.push(id);
      crashPoint('approval.after_write');
    }
  } catch (error) {
    if (!(error instanceof PawlError) || !['conflict', 'timeout'].includes(error.code)) throw error;
    // A timeout is tried again. An input that was closed ends the session, and its requests with it.
    isReading = false;
  }
  const isOver = session === null || session.endedAt !== null;
  await store.write((tx) => markApprovalsSent(tx, isOver ? unsent.map(({ id }) => id) : written));
  crashPoint('approval.after_send');
  return isReading || isOver;
}
