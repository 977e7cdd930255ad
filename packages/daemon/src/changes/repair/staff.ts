import { exportCommits } from '@pawl/git/merge/queue-objects';
import { commitAt } from '@pawl/git/repository/repository';
import { PawlError } from '@pawl/schema/error';
import type { Staff } from '@pawl/schema/project-config';
import type { Agent, Project, WorkMode } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentView } from '@pawl/store/agents/agent-views';
import { commandOptions, forkAndExec } from '../../agents/fork.ts';
import { rootAgent } from '../../platform/root-agent.ts';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import { ownGitDirectory, repositoryOf } from '../../platform/platform.ts';

export type RepairParts = {
  platform: SessionPlatform;
};

export type Assignment = {
  project: Project;
  staff: Staff;
  task: string;
  /** The commit that it starts with. */
  base: string;
  mode: WorkMode;
  /** The author of the change in question, whose provider is the default. */
  author: Agent | null;
  /** True if a scripted author's provider may be used. */
  playground: boolean;
  /** Identifies its purpose: the same key gives the same agent until that agent is recorded. */
  key: string;
};

/**
 * Starts an agent for work that the queue needs. It exists when this returns. The caller records its purpose at once;
 * until then the key prevents a second one.
 */
export async function assignAgent({ platform }: RepairParts, given: Assignment): Promise<Agent> {
  const { project, staff } = given;
  refuseCommands(staff);
  await lendCommit(platform, project, given.base);
  const actor = { agent: await rootAgent(platform.store.db), isPerson: true };
  const { definition, provider, model, options } = staff;
  const body = {
    path: project.root,
    task: given.task,
    base: given.base,
    mode: given.mode,
    definition,
    options,
    ...(provider === null ? {} : { provider }),
    ...(model === null ? {} : { model }),
  };
  return forkAndExec(platform, actor, body, given.key, { likeAgent: likeAuthor(platform, given) });
}

/** In a playground only, a scripted author makes its reviewers and fixers scripted. */
function likeAuthor({ providers }: RepairParts['platform'], { author, playground }: Assignment): Agent | null {
  const isScripted = author !== null && providers.find(author.provider)?.scripted === true;
  return isScripted && !playground ? null : author;
}

export async function viewOfAgent({ platform }: RepairParts, id: string | null): Promise<AgentFacts | null> {
  return id === null ? null : agentView(platform.store.db, id);
}

/** A repository may choose the agents of its queue, but not which programs run as them. */
function refuseCommands({ options }: Staff): void {
  const named = commandOptions.find((option) => options[option] !== undefined);
  if (named === undefined) return;
  throw new PawlError('forbidden', `A repository's config may not choose the ${named} of a provider.`, {
    hint: 'Define that provider in the home’s config.yaml, and use its name.',
  });
}

/** A worktree is created in the person's repository, so the commit must exist there; a remote's may not yet. */
async function lendCommit(platform: SessionPlatform, project: Project, commit: string): Promise<void> {
  const repository = await repositoryOf(platform, project);
  if ((await commitAt(repository, commit)) !== null) return;
  await exportCommits(repository, ownGitDirectory(platform.home, project.id), { tip: commit, not: [] });
}
