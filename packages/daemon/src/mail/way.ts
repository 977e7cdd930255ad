import { wayOfMail } from '@pawl/core/mail/mail-way';
import type { Way } from '@pawl/core/mail/mail-way';
import type { Mail } from '@pawl/schema/mail';
import type { AgentView } from '@pawl/store/agents/agent-views';
import { mailbox, wakesInLastHour } from '@pawl/store/mail/mailboxes';
import type { Database } from '@pawl/store/tables';
import type { LiveSessions } from './live-sessions.ts';
import { firstDefinition, isResumable } from './resumable.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';

/** What mail is seen with: the facts, and what only the running daemon knows. */
export type Sight = { platform: DefinitionPlatform; reconciler: LiveSessions };

/** How some mail for an agent would go on now. */
export async function wayFor(
  { platform, reconciler }: Sight,
  db: Database,
  facts: AgentView,
  waiting: readonly Pick<Mail, 'kind' | 'fromId'>[],
): Promise<Way> {
  const { agent, run } = facts;
  const preset = platform.providers.find(agent.provider);
  // Only who rests can be woken, so nothing has to be known about that of the others.
  const rests = run !== null && run.outcome !== null && agent.endedAt === null;
  const first = await firstDefinition(platform, facts);
  return wayOfMail({
    ...facts,
    first,
    listens: preset?.promptMode === 'stream-json' && preset.echoes && reconciler.ingest.isInTurn(agent.id),
    resumable: first === null ? rests && (await isResumable(platform, db, agent)) : preset !== null,
    waiting: waiting.map(({ kind, fromId }) => ({ kind, byPerson: fromId === platform.rootId })),
    wakes: rests || first !== null ? wakesInLastHour(await mailbox(db, agent.id), platform.clock()) : 0,
  });
}
