import type { Project } from '@pawl/schema/record';
import type { AgentView } from '@pawl/protocol/agents/view';
import { useQuery } from '@tanstack/react-query';
import { client } from './client.ts';

/** How many agents and changes a page lists. */
const listed = 500;

export const useAgents = () =>
  useQuery({ queryKey: ['agents'], queryFn: () => client.listAgents({ limit: listed, all: true }) });
export const useAgent = (id: string) =>
  useQuery({ queryKey: ['agent', id], queryFn: () => client.inspectAgent(id, { worktree: false }) });
export const useInbox = () => useQuery({ queryKey: ['inbox'], queryFn: () => client.inbox() });
export const useChanges = () =>
  useQuery({ queryKey: ['changes'], queryFn: () => client.listChanges({ all: true, limit: 200 }) });
export const useChange = (id: string) => useQuery({ queryKey: ['change', id], queryFn: () => client.showChange(id) });
export const useDiff = (id: string, head: string | undefined) =>
  useQuery({
    queryKey: ['diff', id, head],
    queryFn: () => client.diffChange(id),
    enabled: head !== undefined,
    staleTime: Infinity,
  });
export const useQueues = () => useQuery({ queryKey: ['queues'], queryFn: () => client.listQueues() });
export const useProjects = () => useQuery({ queryKey: ['projects'], queryFn: () => client.listProjects() });
export const useEvents = () => useQuery({ queryKey: ['events'], queryFn: () => client.events({ tail: 300 }) });
export const useSessions = () => useQuery({ queryKey: ['web-sessions'], queryFn: () => client.webSessions() });

/** True if something belongs to the chosen project; without a choice, all do. */
export function isIn(project: string | null, of: Pick<Project, 'id'> | null): boolean {
  return project === null || of?.id === project;
}

export function agentsIn(agents: AgentView[], project: string | null): AgentView[] {
  return agents.filter(
    (agent) => isIn(project, agent.project) || agent.places.some((place) => place.project.id === project),
  );
}
