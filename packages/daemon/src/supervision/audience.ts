import { whoHears } from '@pawl/core/supervision/complete';
import type { Agent, Run } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { livingColleagues } from '@pawl/store/agents/colleagues';
import type { Database } from '@pawl/store/tables';

/**
 * The recipients of notices about an agent's trouble: its supervisor, and the living agents of its project whose role
 * its definition notifies. Not agent 0: a person sees the status.
 */
export async function audienceOf(db: Database, agent: Agent, run: Run | null): Promise<Agent[]> {
  const supervisor = agent.supervisorId === null ? null : await agentById(db, agent.supervisorId);
  const roles = (run?.definition?.notify ?? []).filter((word) => word !== 'parent');
  const found = agent.projectId === null || roles.length === 0 ? [] : await livingColleagues(db, agent.projectId);
  // An agent without a run is known by its definition; a built-in definition has the name of its role.
  const colleagues = found.map((each) => ({ agent: each.agent, role: each.definition?.role ?? each.agent.definition }));
  const told = whoHears(agent, ['parent', ...roles], { supervisor, colleagues });
  return told.filter(({ parentId, endedAt }) => parentId !== null && endedAt === null);
}
