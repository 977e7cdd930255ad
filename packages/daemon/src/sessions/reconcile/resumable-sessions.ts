import type { ProviderPreset } from '@pawl/core/port/provider';
import type { Session } from '@pawl/schema/record';
import { hasAnswer } from '@pawl/store/sessions/messages';
import { sessionsThatSpoke } from '@pawl/store/sessions/sessions';
import type { Database } from '@pawl/store/tables';

/**
 * The sessions whose conversation can be resumed, oldest first. For a CLI that resumes only conversations with an
 * answer, omits the last ones that failed before any.
 */
export async function resumableSessions(
  db: Database,
  agentId: string,
  { resumesUnanswered = true }: Pick<ProviderPreset, 'resumesUnanswered'>,
): Promise<Session[]> {
  const sessions = await sessionsThatSpoke(db, agentId);
  if (resumesUnanswered) return sessions;
  let count = sessions.length;
  for (const { id, result } of sessions.toReversed()) {
    if (result?.ok !== false || (await hasAnswer(db, agentId, id))) break;
    count -= 1;
  }
  return sessions.slice(0, count);
}
