import type { OpenAPIHono } from '@hono/zod-openapi';
import { projectRoutes } from '@pawl/protocol/projects/routes';
import type { ProjectReference } from '@pawl/protocol/projects/view';
import { projectSettings } from '@pawl/store/projects/project-settings';
import { listProjects } from '@pawl/store/projects/projects';
import { askerOf, projectRequired } from '../changes/change-scope.ts';
import { changeProjectSettings } from '../platform/project-settings.ts';
import { describeProject, untrackProject } from './untrack.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import type { ProjectCrews } from './project-crew.ts';
import type { Signals } from '../agents/signals.ts';
import type { DoorVariables } from '../platform/http/door.ts';

export function addProjectRoutes(
  app: OpenAPIHono<DoorVariables>,
  parts: { platform: DefinitionPlatform; crews: ProjectCrews; signals: Signals },
): void {
  const { platform, crews, signals } = parts;
  const named = (query: ProjectReference) => projectRequired(platform, { is: 'person' }, query);
  app.openapi(projectRoutes.projectSettings, async (context) => {
    const asker = await askerOf(platform, context.get('caller'));
    const project = await projectRequired(platform, asker, context.req.valid('query'));
    return context.json({ project, settings: await projectSettings(platform.store.db, project.id) }, 200);
  });
  app.openapi(projectRoutes.changeProjectSettings, async (context) => {
    const { path, project: name, ...changed } = context.req.valid('json');
    const project = await projectRequired(platform, { is: 'person' }, { path, project: name });
    return context.json({ project, settings: await changeProjectSettings(platform, project, changed) }, 200);
  });
  app.openapi(projectRoutes.listProjectDetails, async (context) => {
    const query = context.req.valid('query');
    const isNamed = query.path !== undefined || query.project !== undefined;
    const projects = isNamed ? [await named(query)] : await listProjects(platform.store.db);
    return context.json({ projects: await Promise.all(projects.map((each) => describeProject(platform, each))) }, 200);
  });
  app.openapi(projectRoutes.untrackProject, async (context) => {
    const { force = false, ...query } = context.req.valid('json');
    return context.json(await untrackProject({ platform, signals, crews }, await named(query), { force }), 200);
  });
  app.openapi(projectRoutes.crew, async (context) => {
    const asker = await askerOf(platform, context.get('caller'));
    return context.json(await crews.status(await projectRequired(platform, asker, context.req.valid('query'))), 200);
  });
  app.openapi(projectRoutes.startCrew, async (context) => {
    const { provider, environment, searchPath, ...query } = context.req.valid('json');
    return context.json(await crews.start(await named(query), { provider, environment, searchPath }), 200);
  });
  app.openapi(projectRoutes.stopCrew, async (context) =>
    context.json(await crews.stop(await named(context.req.valid('json'))), 200),
  );
}
