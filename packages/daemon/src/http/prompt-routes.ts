import type { OpenAPIHono } from '@hono/zod-openapi';
import { promptRoutes } from '@pawl/protocol/route/prompt';
import { agentInputs } from '../prompts/inputs.ts';
import { sentPrompt } from '../prompts/sent.ts';
import type { AppParts } from './app.ts';
import type { DoorVariables } from './door.ts';
import { selfOnly } from './door.ts';

/** What agents were told: for a person, and for the agent itself. */
export function addPromptRoutes(app: OpenAPIHono<DoorVariables>, { shop, agents }: AppParts): void {
  app.openapi(promptRoutes.agentPrompt, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    selfOnly(context, agent.id);
    return context.json(await sentPrompt(shop, agent, context.req.valid('query').session), 200);
  });
  app.openapi(promptRoutes.agentInputs, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    selfOnly(context, agent.id);
    return context.json(await agentInputs(agent), 200);
  });
}
