import type { OpenAPIHono } from '@hono/zod-openapi';
import { ruleRoutes } from '@pawl/protocol/rules/routes';
import type { ProjectReference } from '@pawl/protocol/projects/view';
import type { AddRuleBody } from '@pawl/protocol/rules/view';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Project } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { listRules, rulesFor } from '@pawl/store/rules/rules';
import { agentView } from '@pawl/store/agents/agent-views';
import type { Platform } from '../platform/platform.ts';
import { placesOf } from '../platform/places.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import type { RuleOwner } from './rules.ts';
import { addRule, revokeByReference, viewRule } from './rules.ts';

/** Finds what a person names. */
type Finders = { agent(reference: string): Promise<Agent>; project(reference: ProjectReference): Promise<Project> };

export function addRuleRoutes(
  app: OpenAPIHono<DoorVariables>,
  { platform, find }: { platform: Platform; find: Finders },
): void {
  const { store } = platform;

  app.openapi(ruleRoutes.listRules, async (context) => {
    const caller = context.get('caller');
    const rules = caller.kind === 'person' ? await listRules(store.db) : await ownRules(caller.agentId);
    return context.json({ rules: await Promise.all(rules.map((rule) => viewRule(store.db, rule))) }, 200);
  });
  app.openapi(ruleRoutes.addRule, async (context) => {
    const { effect, match, ...where } = context.req.valid('json');
    const owner = await ownerOf(where);
    const rule = await store.write((tx) => addRule(tx, { ...owner, effect, match, madeBy: 'person', requestId: null }));
    return context.json({ rule: await viewRule(store.db, rule) }, 200);
  });
  app.openapi(ruleRoutes.revokeRule, async (context) => {
    const rule = await revokeByReference(store, context.req.valid('param').rule);
    return context.json({ rule: await viewRule(store.db, rule) }, 200);
  });

  async function ownRules(agentId: string) {
    const agent = await agentById(store.db, agentId);
    if (agent === null) return [];
    const sessionId = (await agentView(store.db, agentId))?.session?.id ?? null;
    const projectIds = (await placesOf(store.db, agent)).flatMap((place) => place.agent.projectId ?? []);
    return rulesFor(store.db, { sessionId, agentId, projectIds });
  }

  async function ownerOf({ agent, ...project }: Omit<AddRuleBody, 'effect' | 'match'>): Promise<RuleOwner> {
    const isOfProject = project.path !== undefined || project.project !== undefined;
    if (isOfProject && agent !== undefined)
      throw new PawlError('usage', 'A rule is for a project or for an agent, not for both.');
    if (agent !== undefined) return { scope: 'agent', scopeId: (await find.agent(agent)).id };
    if (isOfProject) return { scope: 'project', scopeId: (await find.project(project)).id };
    return { scope: 'user', scopeId: null };
  }
}
