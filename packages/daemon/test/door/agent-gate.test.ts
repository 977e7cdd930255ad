import { createRoute, OpenAPIHono } from '@hono/zod-openapi';
import { gateAgents } from '@pawl/daemon/door/agent-gate';
import type { DoorVariables } from '@pawl/daemon/platform/http/door';
import { forAgents } from '@pawl/protocol/access';
import { defineRoute } from '@pawl/protocol/define-route';
import { PawlError } from '@pawl/schema/error';
import { expect, test } from 'vitest';

const responses = { 200: { description: 'It is open.' } };

test('a route whose access is missing refuses every agent and admits people', async () => {
  const closed = createRoute({ method: 'get', path: '/closed', responses });
  const open = defineRoute({ access: forAgents('see it', ''), method: 'get', path: '/open', responses });
  const app = new OpenAPIHono<DoorVariables>();
  app.onError((error, context) => context.text(error.message, error instanceof PawlError ? 403 : 500));
  app.use((context, next) => {
    const agentId = context.req.header('agent');
    context.set('caller', agentId === undefined ? { kind: 'person' } : { kind: 'agent', agentId });
    return next();
  });
  gateAgents(app, [closed, open], (agentId) => Promise.reject(new Error(`nobody looks up ${agentId}`)));
  app.get(closed.path, (context) => context.text('open'));
  app.get(open.path, (context) => context.text('open'));

  const agent = { headers: { agent: 'a' } };
  expect((await app.request('/closed', agent)).status).toBe(403);
  expect((await app.request('/closed')).status).toBe(200);
  expect((await app.request('/open', agent)).status).toBe(200);
});
