import type { OpenAPIHono } from '@hono/zod-openapi';
import { errandRoutes } from '@pawl/protocol/agents/errands/routes';
import { createErrands } from './errands.ts';
import type { ErrandParts } from './errands.ts';
import type { DoorVariables } from '../../platform/http/door.ts';
import { selfOnly } from '../../platform/http/door.ts';

export function addErrandRoutes(app: OpenAPIHono<DoorVariables>, parts: ErrandParts): void {
  const { agents } = parts;
  const errands = createErrands(parts);

  app.openapi(errandRoutes.listErrands, async (context) =>
    context.json(await errands.list(context.req.valid('query').all === 'true'), 200),
  );
  app.openapi(errandRoutes.sendErrand, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference, 'living');
    const given = context.req.valid('header')['idempotency-key'];
    const key = given === undefined ? undefined : `person:errand ${agent.id}:${given}`;
    const channel = await errands.send(agent, context.req.valid('json').message, key);
    return context.json({ agent: await agents.view(agent.id), channel }, 200);
  });
  app.openapi(errandRoutes.diffErrand, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    selfOnly(context, agent.id);
    return context.json({ agentId: agent.id, ...(await errands.diff(agent)) }, 200);
  });
  app.openapi(errandRoutes.mergeErrand, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    const merged = await errands.merge(agent, context.req.valid('json'));
    return context.json({ agent: await agents.view(agent.id), ...merged }, 200);
  });
  app.openapi(errandRoutes.abandonErrand, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    const { branch } = await errands.abandon(agent);
    return context.json({ agent: await agents.view(agent.id), branch }, 200);
  });
}
