import type { OpenAPIHono } from '@hono/zod-openapi';
import { ruleRoutes } from '@pawl/protocol/rules/routes';
import type { ProjectReference } from '@pawl/protocol/projects/view';
import type { AddRuleBody } from '@pawl/protocol/rules/view';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Project } from '@pawl/schema/record';
import type { Rule } from '@pawl/schema/rule';
import { agentById } from '@pawl/store/agents/agents';
import { listRules, rulesFor } from '@pawl/store/rules/rules';
import { agentView } from '@pawl/store/agents/agent-views';
import type { Platform } from '../platform/platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { fileRules } from './file-rules.ts';
import { projectsOf } from './judge.ts';
import type { RuleOwner } from './rules.ts';
import { addRule, revokeByReference, viewFileRule, viewRule } from './rules.ts';

/** Finds what a person names. */
type Finders = {
  agent(reference: string): Promise<Agent>;
  project(reference: ProjectReference): Promise<Project>;
  /** The project that contains a path, or null. */
  around(path: string): Promise<Project | null>;
};

export function addRuleRoutes(
  app: OpenAPIHono<DoorVariables>,
  { platform, find }: { platform: Platform; find: Finders },
): void {
  const { store } = platform;

  app.openapi(ruleRoutes.listRules, async (context) => {
    const caller = context.get('caller');
    const { path } = context.req.valid('query');
    const { stored, projects } =
      caller.kind === 'person'
        ? { stored: await listRules(store.db), projects: await at(path) }
        : await ownRules(caller.agentId);
    const { rules, trouble } = await fileRules(platform, projects);
    const views = await Promise.all(stored.map((rule) => viewRule(store.db, rule)));
    return context.json({ rules: [...views, ...rules.map(viewFileRule)], trouble }, 200);
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

  async function at(path: string | undefined): Promise<Project[]> {
    const project = path === undefined ? null : await find.around(path);
    return project === null ? [] : [project];
  }

  async function ownRules(agentId: string): Promise<{ stored: Rule[]; projects: Project[] }> {
    const agent = await agentById(store.db, agentId);
    if (agent === null) return { stored: [], projects: [] };
    const sessionId = (await agentView(store.db, agentId))?.session?.id ?? null;
    const projects = await projectsOf(store.db, agent);
    const projectIds = projects.map(({ id }) => id);
    return { stored: await rulesFor(store.db, { sessionId, agentId, projectIds }), projects };
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
