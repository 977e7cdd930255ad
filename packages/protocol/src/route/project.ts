import { createRoute } from '@hono/zod-openapi';
import type * as z from 'zod';
import { errorViewSchema } from '../view.ts';
import * as view from '../view/project.ts';

const json = <T extends z.ZodType>(schema: T) => ({ 'application/json': { schema } });
const answers = <T extends z.ZodType>(description: string, schema: T) => ({
  200: { description, content: json(schema) },
  default: { description: 'It did not work; the body says why and what to do.', content: json(errorViewSchema) },
});

/** The routes about one project's settings. */
export const projectRoutes = {
  projectSettings: createRoute({
    method: 'get',
    path: '/api/projects/settings',
    request: { query: view.projectReferenceSchema },
    responses: answers('The settings of a project.', view.projectSettingsAnswerSchema),
  }),
  changeProjectSettings: createRoute({
    method: 'post',
    path: '/api/projects/settings',
    request: { body: { content: json(view.projectSettingsBodySchema), required: true } },
    responses: answers('The settings of a project after the change.', view.projectSettingsAnswerSchema),
  }),
} as const;
