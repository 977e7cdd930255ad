import { statusOfMail } from '@pawl/core/mail/mail';
import { detailOfMail } from '@pawl/core/mail/mail-detail';
import type { DeliveryRoute } from '@pawl/core/mail/delivery-route';
import type { MailView } from '@pawl/protocol/mail/view';
import type { Mail } from '@pawl/schema/mail';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById } from '@pawl/store/agents/agents';
import type { MailContext } from './choose-route.ts';
import { chooseRoute } from './choose-route.ts';

/** Mails for display, in the order given. */
export async function viewMails(context: MailContext, mails: readonly Mail[]): Promise<MailView[]> {
  const known = new Map<string, Promise<AgentFacts | null>>();
  const facts = (id: string) => {
    const row = known.get(id) ?? agentView(context.platform.store.db, id);
    known.set(id, row);
    return row;
  };
  const aliases = new Map<string, string>();
  const aliasOf = async (id: string) => {
    const alias = aliases.get(id) ?? (await agentById(context.platform.store.db, id))?.alias ?? 'nobody';
    aliases.set(id, alias);
    return alias;
  };
  const shown: MailView[] = [];
  for (const mail of mails) {
    const to = await facts(mail.toId);
    const waits = mail.deliveredAt === null && mail.deadAt === null && to !== null;
    const route: DeliveryRoute = waits
      ? await chooseRoute(context, context.platform.store.db, to, [mail])
      : { kind: 'wait', why: 'it is gone' };
    const alias = to?.agent.alias ?? 'nobody';
    shown.push(viewMail(mail, { from: await aliasOf(mail.fromId), to: alias }, detailOfMail(mail, alias, route)));
  }
  return shown;
}

function viewMail(mail: Mail, names: { from: string; to: string }, detail: string): MailView {
  const { id, kind, body, bodyBytes, questionId, createdAt, deliveredAt, readAt, ackedAt, channel } = mail;
  return {
    id,
    kind,
    from: { id: mail.fromId, alias: names.from },
    to: { id: mail.toId, alias: names.to },
    status: statusOfMail(mail),
    body,
    bodyBytes,
    cut: mail.bodyFile !== null,
    questionId,
    createdAt,
    deliveredAt,
    readAt,
    ackedAt,
    channel: deliveredAt === null ? null : channel,
    dead: mail.deadAt === null ? null : { at: mail.deadAt, reason: mail.deadReason ?? '' },
    detail,
  };
}
