import type { OpenAPIHono } from '@hono/zod-openapi';
import { mailRoutes } from '@pawl/protocol/mail/routes';
import { PawlError } from '@pawl/schema/error';
import { agentById } from '@pawl/store/agents/agents';
import type { Context } from 'hono';
import { createMailboxes } from './mailbox.ts';
import type { MailCaller } from './mail-lookup.ts';
import { createMailWaits } from './mail-wait.ts';
import { rootAgent } from '../platform/root-agent.ts';
import type { MailRoom } from './mail.ts';
import type { MailContext } from './choose-route.ts';
import type { DoorVariables } from '../platform/http/door.ts';

/** Routes for mail. An agent acts as itself, a person as agent 0. */
export function addMailRoutes(
  app: OpenAPIHono<DoorVariables>,
  { platform, reconciler, mailRoom }: MailContext & { mailRoom: MailRoom },
): void {
  const { db } = platform.store;
  const context = { platform, reconciler };
  const mailboxes = createMailboxes(context, mailRoom);
  const waits = createMailWaits(context, mailboxes, mailRoom);

  async function callerOf(context: Context<DoorVariables>): Promise<MailCaller> {
    const caller = context.get('caller');
    if (caller.kind === 'person') return { agent: await rootAgent(db), isPerson: true };
    const agent = await agentById(db, caller.agentId);
    if (agent === null) throw new PawlError('agent_not_found', 'The caller is not in the registry.');
    return { agent, isPerson: false };
  }

  app.openapi(mailRoutes.sendMail, async (context) => {
    const caller = await callerOf(context);
    const key = context.req.valid('header')['idempotency-key'];
    // A key is scoped to one sender.
    const scoped = key === undefined ? undefined : `${caller.agent.id}:mail:${key}`;
    return context.json({ mails: await mailboxes.send(caller, context.req.valid('json'), scoped) }, 200);
  });
  app.openapi(mailRoutes.listMail, async (context) => {
    const { unread, ...query } = context.req.valid('query');
    return context.json(await mailboxes.look(await callerOf(context), { ...query, unread: unread === 'true' }), 200);
  });
  app.openapi(mailRoutes.fetchMail, async (context) =>
    context.json(await mailboxes.fetch(await callerOf(context), context.req.valid('json')), 200),
  );
  app.openapi(mailRoutes.waitMail, async (context) => {
    const { agent } = await callerOf(context);
    return context.json(await waits.wait(agent, context.req.valid('json'), context.req.raw.signal), 200);
  });
  app.openapi(mailRoutes.showMail, async (context) => {
    const { mail } = context.req.valid('param');
    return context.json({ mail: await mailboxes.show(await callerOf(context), mail) }, 200);
  });
  app.openapi(mailRoutes.readMail, async (context) => {
    const { mail } = context.req.valid('param');
    return context.json({ mail: await mailboxes.read(await callerOf(context), mail) }, 200);
  });
  app.openapi(mailRoutes.ackMail, async (context) => {
    const { mail } = context.req.valid('param');
    return context.json({ mail: await mailboxes.ack(await callerOf(context), mail) }, 200);
  });
}
