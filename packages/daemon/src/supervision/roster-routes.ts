import type { OpenAPIHono } from '@hono/zod-openapi';
import { rosterRoutes } from '@pawl/protocol/roster/routes';
import { openRepository } from '@pawl/git/repository/repository';
import { exitCodeOf } from '@pawl/roster/roster';
import { PawlError } from '@pawl/schema/error';
import { agentById } from '@pawl/store/agents/agents';
import { projectByRoot } from '@pawl/store/projects/projects';
import { projectOf } from '../platform/platform.ts';
import type { Platform } from '../platform/platform.ts';
import type { Adoption } from './adopted.ts';
import type { DoorVariables } from '../platform/http/door.ts';

/** Other agents in a checkout, where an agent may ask only about its own project; and the identity of a process. */
export function addRosterRoutes(
  app: OpenAPIHono<DoorVariables>,
  { platform, adoption }: { platform: Platform; adoption: Adoption },
): void {
  const { store } = platform;

  async function projectAt(path: string | undefined) {
    if (path === undefined) throw new PawlError('invalid_input', 'No project given. Give its path.');
    const project = await projectByRoot(store.db, (await openRepository(path)).root);
    if (project !== null) return project;
    throw new PawlError('project_not_found', `${path} is not in a project.`, { hint: 'Run `pawl init` there first.' });
  }

  app.openapi(rosterRoutes.rosterSelf, async (context) => {
    const process = context.req.valid('json');
    const agent = await adoption.find(process);
    if (agent === null) {
      throw new PawlError('agent_not_found', `The process ${process.pid} is not a coding agent in a project.`, {
        hint: 'Run `pawl init` in its repository first.',
      });
    }
    const { id, alias } = agent;
    return context.json({ agent: { id, alias }, token: platform.authority.agentToken(id) }, 200);
  });
  app.openapi(rosterRoutes.roster, async (context) => {
    const caller = context.get('caller');
    const agent = caller.kind === 'person' ? null : await agentById(store.db, caller.agentId);
    const project = agent === null ? await projectAt(context.req.valid('query').path) : await projectOf(store, agent);
    const roster = adoption.roster(project.root, agent?.id ?? null);
    const code = exitCodeOf(roster);
    const others = roster.others.map(({ pid, cwd, provider, startedAt, agentId }) => {
      return { pid, cwd, provider, startedAt, agentId };
    });
    return context.json({ alone: code === 2 ? null : code === 0, others, doubts: roster.doubts }, 200);
  });
}
