import { redactText } from '@pawl/host/secret-mask';
import type { Agent, Session } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agent-views';
import { secretsOf } from '../reconcile/session-watch.ts';
import type { Workshop } from '../workshop.ts';

/** What an agent says may hold what nobody is to read: this takes the secrets of its session out of any text. */
export async function redactionFor(
  shop: Workshop,
  { agent, session }: { agent: Agent; session: Session | null },
): Promise<(text: string) => string> {
  if (session === null) return (text) => text;
  const secrets = await secretsOf(shop, agent, session);
  return (text) => redactText(text, secrets);
}

/** The same for an agent of whom only the id is known; a person's words stay as they are. */
export async function redactionOf(shop: Workshop, agentId: string | null): Promise<(text: string) => string> {
  const facts = agentId === null ? null : await agentView(shop.store.db, agentId);
  return facts === null ? (text) => text : redactionFor(shop, facts);
}
