import type { OpenAPIHono } from '@hono/zod-openapi';
import { questionRoutes } from '@pawl/protocol/questions/routes';
import type { DoorVariables } from '../platform/http/door.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { PersonInbox } from '../questions/inbox.ts';
import { inOrder, queueInbox } from '../queue/queue-inbox.ts';

/** Lists everything that waits for a person: questions, permissions, and the queues of all projects. */
export function addInboxRoutes(
  app: OpenAPIHono<DoorVariables>,
  parts: { platform: DefinitionPlatform; inbox: PersonInbox },
): void {
  app.openapi(questionRoutes.inbox, async (context) => {
    const { items, entries } = await parts.inbox.look();
    const queues = await queueInbox(parts.platform);
    return context.json({ items, ...queues, entries: inOrder([...entries, ...queues.entries]) }, 200);
  });
}
