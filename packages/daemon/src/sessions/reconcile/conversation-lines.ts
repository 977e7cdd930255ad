import { handedOver } from '@pawl/core/sessions/handed-over';
import type { ConversationLine } from '@pawl/schema/conversation/message';
import type { Agent, Run, Session } from '@pawl/schema/record';
import { messageBodies } from '@pawl/store/sessions/messages';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { pastOf } from './session-prompt.ts';

/**
 * The conversation before a session, by the agent's lineage, as the file that its process reads. Clears, rewinds and
 * summaries are applied.
 */
export async function conversationLines(
  platform: SessionPlatform,
  agent: Agent,
  run: Run,
  { purpose }: Session,
): Promise<string> {
  const past = await pastOf(platform, agent, run, purpose);
  const bodies = await messageBodies(
    platform.store.db,
    past.map(({ id }) => id),
  );
  const messages = handedOver(past, bodies);
  const lines: ConversationLine[] = [{ version: 1 }, ...messages.map((message) => ({ message }))];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
