import { isOver } from '@pawl/core/changes/change-life';
import type { AgentView } from '@pawl/protocol/agents/view';
import type { Project } from '@pawl/schema/record';
import { latestChanges } from '@pawl/store/changes/changes';
import type { Platform } from '../platform/platform.ts';
import { stateSeen } from './change-view.ts';
import { configOf } from '../project-config/project-rules.ts';
import { projectFacts } from './facts.ts';

/** The latest change of each agent, for a listing. Reads a project's rules only if one of its changes is open. */
export async function changesOfAgents(
  platform: Platform,
  agentIds: readonly string[],
  projects: ReadonlyMap<string, Project>,
): Promise<Map<string, NonNullable<AgentView['change']>>> {
  const { db } = platform.store;
  const sights = new Map<string, Parameters<typeof stateSeen>[2]>();
  const shown = new Map<string, NonNullable<AgentView['change']>>();

  async function viewFactsOf(projectId: string) {
    const known = sights.get(projectId);
    if (known !== undefined) return known;
    const project = projects.get(projectId);
    const { found, trouble } = project === undefined ? nothing : await configOf(platform, project);
    const viewFacts = { facts: found === null ? null : await projectFacts(db, projectId, found), trouble };
    sights.set(projectId, viewFacts);
    return viewFacts;
  }

  for (const [agentId, change] of await latestChanges(db, agentIds)) {
    const viewFacts = isOver(change) ? nothingSeen : await viewFactsOf(change.projectId);
    shown.set(agentId, { id: change.id, ...(await stateSeen(db, change, viewFacts)) });
  }
  return shown;
}

const nothing = { found: null, trouble: null };
const nothingSeen = { facts: null, trouble: null };
