import { forAgents, forPeople } from '../access.ts';
import { answers, body, defineRoute } from '../define-route.ts';
import * as view from './view.ts';

/** Projects: tracking, settings, crews. */
export const projectRoutes = {
  listProjects: defineRoute({
    access: forAgents('list projects', '7.23'),
    method: 'get',
    path: '/api/projects',
    responses: answers('The projects.', view.projectListSchema),
  }),
  addProject: defineRoute({
    access: forPeople('add a project', '7.23'),
    method: 'post',
    path: '/api/projects',
    request: { body: body(view.addProjectSchema) },
    responses: answers('The project; `created` is false when it was there already.', view.projectAddedSchema),
  }),
  projectSettings: defineRoute({
    access: forAgents('read the settings of a project', '7.23'),
    method: 'get',
    path: '/api/projects/settings',
    request: { query: view.projectReferenceSchema },
    responses: answers('The settings of a project.', view.projectSettingsAnswerSchema),
  }),
  changeProjectSettings: defineRoute({
    access: forPeople('change the settings of a project', '7.23'),
    method: 'post',
    path: '/api/projects/settings',
    request: { body: body(view.projectSettingsBodySchema) },
    responses: answers('The settings of a project after the change.', view.projectSettingsAnswerSchema),
  }),
  listProjectDetails: defineRoute({
    access: forPeople('list projects with their settings', '7.23'),
    method: 'get',
    path: '/api/projects/details',
    request: { query: view.projectReferenceSchema },
    responses: answers(
      'The project that is named, or all of them, with settings and agents; those that are not tracked any more, too.',
      view.projectDetailsSchema,
    ),
  }),
  untrackProject: defineRoute({
    access: forPeople('stop tracking a project', '7.23'),
    method: 'post',
    path: '/api/projects/untrack',
    request: { body: body(view.untrackBodySchema) },
    responses: answers('The project after it was taken off the list; nothing is deleted.', view.projectDetailSchema),
  }),
  crew: defineRoute({
    access: forAgents('see the crew of its project', '7.23'),
    method: 'get',
    path: '/api/projects/crew',
    request: { query: view.projectReferenceSchema },
    responses: answers('The supervisor, merge-queue and workspace of a project.', view.crewViewSchema),
  }),
  startCrew: defineRoute({
    access: forPeople('start the crew of a project', '7.23'),
    method: 'post',
    path: '/api/projects/crew/start',
    request: { body: body(view.crewBodySchema) },
    responses: answers(
      'The crew, with those that were missing; they stay idle until they get mail.',
      view.crewViewSchema,
    ),
  }),
  stopCrew: defineRoute({
    access: forPeople('stop the crew of a project', '7.23'),
    method: 'post',
    path: '/api/projects/crew/stop',
    request: { body: body(view.projectReferenceSchema) },
    responses: answers('The crew after its agents have ended.', view.crewViewSchema),
  }),
} as const;
