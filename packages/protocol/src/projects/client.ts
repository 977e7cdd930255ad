import type { Project } from '@pawl/schema/record';
import type {
  AddProjectBody,
  CrewBody,
  CrewView,
  ProjectAdded,
  ProjectDetail,
  ProjectDetails,
  ProjectReference,
  ProjectSettingsAnswer,
  ProjectSettingsBody,
  UntrackBody,
} from './view.ts';
import type { Requests } from '../requests.ts';

/** The client for projects. */
export type ProjectClient = {
  listProjects(): Promise<{ projects: Project[] }>;
  addProject(body: AddProjectBody): Promise<ProjectAdded>;
  projectSettings(query: ProjectReference): Promise<ProjectSettingsAnswer>;
  changeProjectSettings(body: ProjectSettingsBody): Promise<ProjectSettingsAnswer>;
  /** The named project, or all of them. */
  listProjectDetails(query?: ProjectReference): Promise<ProjectDetails>;
  untrackProject(body: UntrackBody): Promise<ProjectDetail>;
  crew(query: ProjectReference): Promise<CrewView>;
  startCrew(body: CrewBody): Promise<CrewView>;
  stopCrew(body: ProjectReference): Promise<CrewView>;
};

export function projectClient({ get, post }: Requests): ProjectClient {
  return {
    listProjects: () => get('/api/projects'),
    addProject: (body) => post('/api/projects', body),
    projectSettings: (query) => get('/api/projects/settings', query),
    changeProjectSettings: (body) => post('/api/projects/settings', body),
    listProjectDetails: (query) => get('/api/projects/details', query),
    untrackProject: (body) => post('/api/projects/untrack', body),
    crew: (query) => get('/api/projects/crew', query),
    startCrew: (body) => post('/api/projects/crew/start', body),
    stopCrew: (body) => post('/api/projects/crew/stop', body),
  };
}
