import type { OpenAPIHono } from '@hono/zod-openapi';
import { promptRoutes } from '@pawl/protocol/prompts/routes';
import { agentInputs } from './inputs.ts';
import { sentPrompt } from './sent.ts';
import type { Platform } from '../platform/platform.ts';
import type { Agent } from '@pawl/schema/record';
import type { DoorVariables } from '../platform/http/door.ts';
import { selfOnly } from '../platform/http/door.ts';

export function addPromptRoutes(
  app: OpenAPIHono<DoorVariables>,
  { platform, agents }: { platform: Platform; agents: { find(reference: string): Promise<Agent> } },
): void {
  app.openapi(promptRoutes.agentPrompt, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    selfOnly(context, agent.id);
    return context.json(await sentPrompt(platform, agent, context.req.valid('query').session), 200);
  });
  app.openapi(promptRoutes.agentInputs, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    selfOnly(context, agent.id);
    return context.json(await agentInputs(agent), 200);
  });
}
