import type { OpenAPIHono } from '@hono/zod-openapi';
import { projectRoutes } from '@pawl/protocol/route/project';
import { projectSettings } from '@pawl/store/project-settings';
import { askerOf, projectRequired } from '../ratchet/change-scope.ts';
import { changeProjectSettings } from '../service/project-settings.ts';
import type { AppParts } from './app.ts';
import type { DoorVariables } from './door.ts';

/** Reads and changes the settings of a project. */
export function addProjectRoutes(app: OpenAPIHono<DoorVariables>, { shop }: AppParts): void {
  app.openapi(projectRoutes.projectSettings, async (context) => {
    const asker = await askerOf(shop, context.get('caller'));
    const project = await projectRequired(shop, asker, context.req.valid('query'));
    return context.json({ project, settings: await projectSettings(shop.store.db, project.id) }, 200);
  });
  app.openapi(projectRoutes.changeProjectSettings, async (context) => {
    const { path, project: name, ...changed } = context.req.valid('json');
    const project = await projectRequired(shop, { is: 'person' }, { path, project: name });
    return context.json({ project, settings: await changeProjectSettings(shop, project, changed) }, 200);
  });
}
