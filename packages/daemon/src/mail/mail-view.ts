import { statusOfMail } from '@pawl/core/mail/mail';
import { detailOfMail } from '@pawl/core/mail/mail-detail';
import type { Way } from '@pawl/core/mail/mail-way';
import type { MailView } from '@pawl/protocol/mail/view';
import type { Mail } from '@pawl/schema/mail';
import type { AgentView } from '@pawl/store/agents/agent-views';
import { agentView } from '@pawl/store/agents/agent-views';
import { agentById } from '@pawl/store/agents/agents';
import type { Sight } from './way.ts';
import { wayFor } from './way.ts';

/** Mails as people see them, in the order given. */
export async function viewMails(sight: Sight, mails: readonly Mail[]): Promise<MailView[]> {
  const known = new Map<string, Promise<AgentView | null>>();
  const facts = (id: string) => {
    const row = known.get(id) ?? agentView(sight.platform.store.db, id);
    known.set(id, row);
    return row;
  };
  const aliases = new Map<string, string>();
  const aliasOf = async (id: string) => {
    const alias = aliases.get(id) ?? (await agentById(sight.platform.store.db, id))?.alias ?? 'nobody';
    aliases.set(id, alias);
    return alias;
  };
  const shown: MailView[] = [];
  for (const mail of mails) {
    const to = await facts(mail.toId);
    const waits = mail.deliveredAt === null && mail.deadAt === null && to !== null;
    const way: Way = waits
      ? await wayFor(sight, sight.platform.store.db, to, [mail])
      : { way: 'wait', why: 'it is gone' };
    const alias = to?.agent.alias ?? 'nobody';
    shown.push(viewMail(mail, { from: await aliasOf(mail.fromId), to: alias }, detailOfMail(mail, alias, way)));
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
