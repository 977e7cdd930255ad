import type { PromptAssets } from '@pawl/core/prompts/assets';
import { redactText } from '@pawl/host/output/secret-mask';
import type { Message } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { appendChunk } from '@pawl/store/sessions/chunks';
import { appendMessage, extendMessage, lastSessionMessages } from '@pawl/store/sessions/messages';
import { runById } from '@pawl/store/sessions/runs';
import type { SessionPatch } from '@pawl/store/sessions/sessions';
import { conversationHolder, moveProxyOffset, updateSession } from '@pawl/store/sessions/sessions';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { recordConnections } from '../../approvals/record-connection.ts';
import { recordApprovals } from '../../approvals/record-request.ts';
import { recordEvidence } from '../../mail/evidence.ts';
import type { Batch, IntakeTarget, SaidMessage } from './batch.ts';
import { isPieceOf, kept } from './said-message.ts';

/** How mail claimed for a session is recognised; `isExpected` is false if all of it is known to be read. */
export type MailInHands = { prompts: PromptAssets; isExpected: boolean };

/** Stores a batch of one session: chunks, facts, messages, delivered mail, and events. */
export async function storeBatch(
  tx: WriteTransaction,
  target: IntakeTarget,
  batch: Batch,
  mail: MailInHands,
): Promise<void> {
  const { id: sessionId } = target.session;
  for (const chunk of batch.chunks) await appendChunk(tx, { sessionId, agentId: target.agent.id, ...chunk });
  await updateSession(tx, sessionId, await withoutTakenId(tx, target, batch.patch));
  if (batch.proxyOffset !== null) await moveProxyOffset(tx, sessionId, batch.proxyOffset);
  // Place mail in the history where it was read, as far as one batch can tell.
  const first = (batch.evidence.before ?? 0) === 0;
  if (first) await noteMail(tx, target, batch, mail);
  await storeMessages(tx, target, batch);
  if (!first) await noteMail(tx, target, batch, mail);
  await recordApprovals(tx, target, batch.approvals);
  await recordConnections(tx, target, batch.connections);
  for (const event of batch.events) tx.emit(event);
}

/** Marks the mail that a batch proves delivered. Usually a session has no claimed mail. */
async function noteMail(
  tx: WriteTransaction,
  target: IntakeTarget,
  { evidence }: Batch,
  { prompts, isExpected }: MailInHands,
): Promise<void> {
  if (evidence.echoes.length === 0 && (evidence.answered === 'no' || !isExpected)) return;
  await recordEvidence(tx, { ...target, prompts }, evidence);
}

/** Ignores a conversation id that another process has, since a CLI may print any. */
async function withoutTakenId(tx: WriteTransaction, target: IntakeTarget, patch: SessionPatch): Promise<SessionPatch> {
  const { providerSessionId, ...others } = patch;
  if (typeof providerSessionId !== 'string') return patch;
  const { agent, session } = target;
  if ((await conversationHolder(tx.db, providerSessionId, session.id)) === null) return patch;
  const reason = 'it names a conversation that another session is in the middle of';
  const data = { no: session.no, stream: 'stdout', reason };
  tx.emit({ type: 'session.damaged', projectId: agent.projectId, agentId: agent.id, data });
  return others;
}

/** Adds a session's messages to the history, unless its agent or run has ended. */
async function storeMessages(
  tx: WriteTransaction,
  { agent, session, secrets }: IntakeTarget,
  batch: Batch,
): Promise<void> {
  if (batch.messages.length === 0) return;
  const [now, run] = [await agentById(tx.db, agent.id), await runById(tx.db, session.runId)];
  if (now === null || now.endedAt !== null || run === null || run.outcome !== null) return;
  const last = await lastSessionMessages(tx.db, agent.id, session.id, batch.unfinished);
  const tail = batch.messages.slice(batch.messages.length - batch.unfinished);
  const said = batch.unfinished > 0 && isSame(last, tail) ? batch.messages.slice(0, -batch.unfinished) : batch.messages;
  const [first, ...others] = said;
  const [before] = first?.data?.['piece'] === true ? await lastSessionMessages(tx.db, agent.id, session.id, 1) : [];
  const goesOn = first !== undefined && before !== undefined && isPieceOf(first, before);
  if (goesOn) await extendMessage(tx, before.id, kept(redactText(before.content + first.content, secrets)));
  for (const message of goesOn ? others : said)
    await appendMessage(tx, { agentId: agent.id, runId: session.runId, sessionId: session.id, ...message });
}

/** True if a daemon that crashed had already stored the unfinished last line. */
function isSame(stored: readonly Message[], said: readonly SaidMessage[]): boolean {
  return (
    stored.length === said.length &&
    stored.every((message, index) => message.kind === said[index]?.kind && message.content === said[index].content)
  );
}
