import type { OpenAPIHono } from '@hono/zod-openapi';
import type { DaemonView } from '@pawl/protocol/daemon/view';
import { version } from '@pawl/protocol/node/programs';
import { routes } from '@pawl/protocol/routes';
import { listProjects } from '@pawl/store/projects/projects';
import type { Agents } from '../agents/agents.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { DoorVariables } from '../platform/http/door.ts';
import { selfOnly } from '../platform/http/door.ts';
import type { ProjectCrews } from '../projects/project-crew.ts';
import { addProject } from '../projects/projects.ts';
import { currentAgent } from '../registry/current-agent.ts';
import type { Adoption } from '../supervision/adopted.ts';
import type { Doctor } from './doctor.ts';

/** The running daemon itself. */
export type DaemonControl = { describe(): Promise<DaemonView>; requestStop(): void };

type DaemonParts = {
  platform: DefinitionPlatform;
  agents: Agents;
  adoption: Adoption;
  doctor: Doctor;
  crews: ProjectCrews;
  daemon: DaemonControl;
};

/** Routes about the daemon, and the lists of projects and agents. */
export function addDaemonRoutes(app: OpenAPIHono<DoorVariables>, parts: DaemonParts): void {
  const { platform, agents, doctor, daemon } = parts;
  app.openapi(routes.health, (context) => context.json({ status: 'ok' as const, version }, 200));
  app.openapi(routes.daemon, async (context) => context.json(await daemon.describe(), 200));
  app.openapi(routes.stopDaemon, (context) => {
    daemon.requestStop();
    return context.json({ stopping: true as const, pid: process.pid }, 200);
  });
  app.openapi(routes.doctor, async (context) => context.json(await doctor.examine(), 200));
  app.openapi(routes.repair, async (context) => context.json(await doctor.repair(), 200));
  app.openapi(routes.listProjects, async (context) =>
    context.json({ projects: await listProjects(platform.store.db) }, 200),
  );
  app.openapi(routes.addProject, async (context) => {
    const added = await addProject(platform, context.req.valid('json'));
    if (added.trackedAgain) await parts.crews.tryOne(added.project);
    return context.json(added, 200);
  });
  app.openapi(routes.listAgents, async (context) => {
    const { all, reaped, ...query } = context.req.valid('query');
    await parts.adoption.look();
    const list = await agents.list({ ...query, all: all === 'true', reaped: reaped === 'true' });
    const current = context.get('caller').kind === 'person' ? (await currentAgent(platform.store.db)).id : null;
    return context.json({ ...list, current }, 200);
  });
  app.openapi(routes.inspectAgent, async (context) => {
    const agent = await agents.find(context.req.valid('param').reference);
    selfOnly(context, agent.id);
    const { worktree } = context.req.valid('query');
    return context.json(await agents.inspect(agent.id, { worktree: worktree !== 'false' }), 200);
  });
}
