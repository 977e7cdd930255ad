import type { Finding } from '@pawl/protocol/daemon/view';
import type { Inspection } from '@pawl/protocol/agents/view';
import { reattachWorktree, worktreeLink } from '@pawl/git/worktree/reattach';
import { countCommits } from '@pawl/git/repository/repository';
import { worktreeStatus } from '@pawl/git/worktree/worktree-status';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { Agent } from '@pawl/schema/record';
import { existsSync } from 'node:fs';
import { placesThere } from '../../platform/kept-places.ts';
import { placesOf } from '../../platform/places.ts';
import type { Platform } from '../../platform/platform.ts';
import { ownGitDirectory, projectOf, repositoryOf } from '../../platform/platform.ts';

/** A living agent's worktree that exists on disk but that git no longer knows. */
export type DetachedWorktree = { agent: Agent; path: string; branch: string; reason: string };

const unknown = { head: null, commits: null, changed: null, untracked: null, files: [] };

/** Describes an agent's worktree. Parts that cannot be read are null, with the reason, never shown as empty. */
export async function describeWorktree(platform: Platform, agent: Agent): Promise<Inspection['worktree']> {
  if (agent.worktree === null || agent.projectId === null) return null;
  if (!existsSync(agent.worktree)) return { exists: false, problem: null, ...unknown };
  try {
    const repository = await repositoryOf(platform, await projectOf(platform.store, agent));
    const link = await worktreeLink(repository, agent.worktree);
    if (link.state === 'detached') return { exists: true, problem: link.reason, ...unknown };
    const ownDir = ownGitDirectory(platform.home, agent.projectId);
    const { head, changed, untracked, files } = await worktreeStatus(repository, { ownDir, path: agent.worktree });
    const { baseCommit } = agent;
    const hasMoved = head !== null && baseCommit !== null && head !== baseCommit;
    const commits = hasMoved ? await countCommits(repository, baseCommit, head) : 0;
    return { exists: true, problem: null, head, commits, changed, untracked, files };
  } catch (error) {
    platform.log.warn({ agent: agent.alias, error: messageOf(error) }, 'failed to read a worktree');
    return { exists: true, problem: messageOf(error), ...unknown };
  }
}

/** Describes an agent's worktrees in further projects. */
export async function describePlaces(platform: Platform, agent: Agent): Promise<Inspection['places']> {
  const [, ...others] = await placesOf(platform.store.db, agent);
  return Promise.all(
    others.map(async ({ agent: there }) => ({
      project: (await projectOf(platform.store, there)).name,
      worktree: await describeWorktree(platform, there),
    })),
  );
}

/** Finds worktrees of living agents that exist on disk but that git has no complete record of. */
export async function detachedWorktrees(platform: Platform): Promise<DetachedWorktree[]> {
  const found: DetachedWorktree[] = [];
  for (const { agent } of await placesThere(platform)) {
    const { worktree: path, branch, worktreeReadyAt } = agent;
    if (path === null || branch === null || worktreeReadyAt === null || agent.projectId === null) continue;
    try {
      const repository = await repositoryOf(platform, await projectOf(platform.store, agent));
      const link = await worktreeLink(repository, path);
      if (link.state === 'detached') found.push({ agent, path, branch, reason: link.reason });
    } catch (error) {
      // A missing project directory is reported separately.
      platform.log.debug({ agent: agent.alias, error: messageOf(error) }, 'cannot tell whether git knows a worktree');
    }
  }
  return found;
}

export function detachedFinding({ agent, path, reason }: DetachedWorktree): Finding {
  return {
    check: 'worktree',
    level: 'error',
    message: `${path} of ${agent.alias} is no longer a worktree: ${reason}`,
    hint: '`pawl doctor --fix` registers it again; its files stay as they are.',
    fixable: true,
  };
}

export function stillDetached({ path }: DetachedWorktree, error: unknown): Finding {
  const hint = error instanceof PawlError ? error.hint : undefined;
  const message = `${path} could not be registered again: ${messageOf(error)}`;
  return { check: 'worktree', level: 'error', message, ...(hint === undefined ? {} : { hint }), fixable: false };
}

/** Registers a worktree again without touching its files. */
export async function reattach(platform: Platform, { agent, path, branch }: DetachedWorktree): Promise<void> {
  const project = await projectOf(platform.store, agent);
  const repository = await repositoryOf(platform, project);
  const ownDir = ownGitDirectory(platform.home, project.id);
  if (!(await reattachWorktree(repository, { ownDir, path, branch }))) return;
  await platform.store.write(async (tx) => {
    tx.emit({ type: 'worktree.reattached', projectId: project.id, agentId: agent.id, data: { path, branch } });
  });
}
