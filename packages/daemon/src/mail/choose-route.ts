import { routeOfMail } from '@pawl/core/mail/delivery-route';
import type { DeliveryRoute } from '@pawl/core/mail/delivery-route';
import type { Mail } from '@pawl/schema/mail';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { mailbox, wakesInLastHour } from '@pawl/store/mail/mailboxes';
import type { Database } from '@pawl/store/tables';
import type { LiveSessions } from './live-sessions.ts';
import { firstDefinition, isResumable } from './resumable.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';

/** The facts for choosing a delivery route: stored ones and live sessions. */
export type MailContext = { platform: DefinitionPlatform; reconciler: LiveSessions };

/** Decides how waiting mail reaches an agent now. */
export async function chooseRoute(
  { platform, reconciler }: MailContext,
  db: Database,
  facts: AgentFacts,
  waiting: readonly Pick<Mail, 'kind' | 'fromId'>[],
): Promise<DeliveryRoute> {
  const { agent, run } = facts;
  const preset = platform.providers.find(agent.provider);
  // Only idle agents can be woken, so look this up for them only.
  const rests = run !== null && run.outcome !== null && agent.endedAt === null;
  const first = await firstDefinition(platform, facts);
  return routeOfMail({
    ...facts,
    first,
    listens: preset?.promptMode === 'stream-json' && preset.echoes && reconciler.ingest.isInTurn(agent.id),
    resumable: first === null ? rests && (await isResumable(platform, db, agent)) : preset !== null,
    waiting: waiting.map(({ kind, fromId }) => ({ kind, byPerson: fromId === platform.rootId })),
    wakes: rests || first !== null ? wakesInLastHour(await mailbox(db, agent.id), platform.clock()) : 0,
  });
}
