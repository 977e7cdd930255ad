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
  listProjectDetails: createRoute({
    method: 'get',
    path: '/api/projects/details',
    request: { query: view.projectReferenceSchema },
    responses: answers(
      'The project that is named, or all of them, with settings and agents; those that are not tracked any more, too.',
      view.projectDetailsSchema,
    ),
  }),
  untrackProject: createRoute({
    method: 'post',
    path: '/api/projects/untrack',
    request: { body: { content: json(view.untrackBodySchema), required: true } },
    responses: answers('The project after it was taken off the list; nothing is deleted.', view.projectDetailSchema),
  }),
  crew: createRoute({
    method: 'get',
    path: '/api/projects/crew',
    request: { query: view.projectReferenceSchema },
    responses: answers('The supervisor, merge-queue and workspace of a project.', view.crewViewSchema),
  }),
  startCrew: createRoute({
    method: 'post',
    path: '/api/projects/crew/start',
    request: { body: { content: json(view.crewBodySchema), required: true } },
    responses: answers(
      'The crew, with those that were missing; they stay idle until they get mail.',
      view.crewViewSchema,
    ),
  }),
  stopCrew: createRoute({
    method: 'post',
    path: '/api/projects/crew/stop',
    request: { body: { content: json(view.projectReferenceSchema), required: true } },
    responses: answers('The crew after its agents have ended.', view.crewViewSchema),
  }),
} as const;
