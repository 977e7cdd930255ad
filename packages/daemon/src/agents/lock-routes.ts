import type { OpenAPIHono } from '@hono/zod-openapi';
import { definitionRoutes } from '@pawl/protocol/definitions/routes';
import type { PathLock } from '@pawl/schema/runtime/path-lock';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import type { Context } from 'hono';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { locksAround, lockPaths, unlockPaths } from '../definitions/path-locks.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { selfOnly } from '../platform/http/door.ts';

type Target = (context: Context<DoorVariables>, reference: string) => Promise<Agent>;

/** Leases on paths: an agent locks for itself; the id of a lock is enough to release it. */
export function addLockRoutes(app: OpenAPIHono<DoorVariables>, platform: SessionPlatform, target: Target): void {
  async function viewOf({ id, agentId, globs, createdAt, expiresAt }: PathLock) {
    const owner = await agentById(platform.store.db, agentId);
    return { id, agentId, globs, createdAt, expiresAt, owner: owner?.alias ?? agentId };
  }

  app.openapi(definitionRoutes.lockPaths, async (context) => {
    const agent = await target(context, context.req.valid('param').reference);
    selfOnly(context, agent.id);
    const { globs, seconds } = context.req.valid('json');
    const leaseMs = seconds === undefined ? undefined : seconds * 1_000;
    return context.json({ lock: await viewOf(await lockPaths(platform, agent, { globs, leaseMs })) }, 200);
  });
  app.openapi(definitionRoutes.listLocks, async (context) => {
    const agent = await target(context, context.req.valid('param').reference);
    selfOnly(context, agent.id);
    const caller = context.get('caller');
    const locks = await Promise.all((await locksAround(platform, agent)).map(viewOf));
    const mayRelease = (agentId: string) => caller.kind === 'person' || caller.agentId === agentId;
    return context.json(
      { locks: locks.map((lock) => ({ ...lock, id: mayRelease(lock.agentId) ? lock.id : null })) },
      200,
    );
  });
  app.openapi(definitionRoutes.unlockPaths, async (context) => {
    const { reference, lock } = context.req.valid('param');
    selfOnly(context, (await target(context, reference)).id);
    return context.json({ released: await unlockPaths(platform, lock) }, 200);
  });
}
