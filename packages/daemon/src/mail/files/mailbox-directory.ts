import { hasErrno } from '@pawl/schema/error';
import { idSchema, nameSchema } from '@pawl/schema/id';
import type { Agent, Project } from '@pawl/schema/record';
import { findAgents } from '@pawl/store/agents/agents';
import { listProjects } from '@pawl/store/projects/projects';
import type { Database } from '@pawl/store/tables';
import { lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Platform } from '../../platform/platform.ts';

/**
 * Mail as files: `messages/<project>/<agent>/<mail>.json`. Other programs and agents can write there, so names are
 * untrusted and links are not followed.
 */

/** For mail without a project; no project name starts like this. */
const noProject = '_home';

/**
 * The directory of an agent's mailbox in a project. A dead agent's directory uses its id if a living one has its alias.
 */
export async function directoryOf(db: Database, agent: Agent, projectName: string | null): Promise<string> {
  const project = projectName === null || !nameSchema.safeParse(projectName).success ? noProject : projectName;
  if (!nameSchema.safeParse(agent.alias).success) return join(project, agent.id);
  if (agent.endedAt === null) return join(project, agent.alias);
  const [first] = await findAgents(db, agent.alias, agent.projectId === null ? {} : { projectId: agent.projectId });
  return join(project, first === undefined || first.id === agent.id ? agent.alias : agent.id);
}

/** Resolves the names of a mailbox directory; the agent is null if there is none. */
export async function ownerOf(
  db: Database,
  projectName: string,
  agentName: string,
): Promise<{ project: Project | null; agent: Agent | null }> {
  const project = (await listProjects(db)).find(({ name }) => name === projectName) ?? null;
  if (project === null && projectName !== noProject) return { project, agent: null };
  const isName = nameSchema.safeParse(agentName).success || idSchema.safeParse(agentName).success;
  if (!isName) return { project, agent: null };
  // Agent 0 belongs to no project, and has a mailbox in each.
  const scopes = project === null ? [''] : [project.id, ''];
  for (const projectId of scopes) {
    const [agent] = await findAgents(db, agentName, { projectId });
    if (agent !== undefined && (agent.alias === agentName || agent.id === agentName)) return { project, agent };
  }
  return { project, agent: null };
}

/** Creates a mailbox directory, or opens an existing one if it is a real directory of ours. */
export async function openMailbox({ home }: Platform, directory: string): Promise<string | null> {
  let path = home.messages;
  for (const name of ['', ...directory.split('/')]) {
    path = join(path, name);
    await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      if (!hasErrno(error, 'EEXIST')) throw error;
    });
    if (!(await isDirectory(path))) return null;
  }
  return path;
}

/** True for a real directory, false for a link to one. */
export async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return false;
    throw error;
  }
}
