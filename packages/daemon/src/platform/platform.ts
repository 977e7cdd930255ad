import type { Home } from '@pawl/protocol/home';
import type { McpServer } from '@pawl/providers/command';
import type { PromptAssets } from '@pawl/core/prompts/assets';
import type { Providers } from '@pawl/providers/registry';
import type { Repository } from '@pawl/git/repository/repository';
import { openRepository } from '@pawl/git/repository/repository';
import { dropSnapshot } from '@pawl/git/snapshot/snapshot';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { ProcessIdentity } from '@pawl/host/process/identity';
import type { Agent, Budget, Project, Session } from '@pawl/schema/record';
import { noBudget } from '@pawl/schema/record';
import { projectById } from '@pawl/store/projects/projects';
import type { Store } from '@pawl/store/store';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Caches } from './caches.ts';
import type { Authority } from './http/authority.ts';

/** How long things may take; tests make them short. */
export type Timing = {
  stopGraceMs: number;
  hungAfterSignalMs: number;
  livenessMs: number;
  limitGraceMs: number;
  /** The loops: mail that waits, health, nudges; and the shortest time between two nudges of one agent. */
  routeMs: number;
  healthMs: number;
  nudgeMs: number;
  nudgeGapMs: number;
  /** How often queues are looked at by themselves, and how soon again when something of a person's is in the way. */
  queueMs: number;
  queueWaitMs: number;
  /** How long what was seen of other people's agents counts. */
  adoptionMs: number;
};

/** What a person may choose in `config.yaml`. */
export type Choices = {
  /** The default provider of new agents; null when none is configured. */
  provider: string | null;
  /** Switches a person to the child after a fork, unless the fork says otherwise. */
  switchOnFork: boolean;
  /** Sessions that may run at once, and agents that may be at work at once; the others wait their turn. */
  maxSessions: number;
  maxAgents: number;
  /** Providers whose agents go on with another account when theirs has reached a limit. */
  rotateAccounts: string[];
  /** What every agent, every run, and a project in a day may use. */
  budgets: { agent: Budget; task: Budget; project: Budget };
  /** MCP servers that every session is given whose provider takes them. */
  mcpServers: Record<string, McpServer>;
  /** Lets every repository's own settings for coding CLIs count, as if each had been trusted. */
  trustRepositorySettings: boolean;
  /** `smart` nudges only who may have something to do, `fixed` everybody who has a nudge, each time. */
  nudges: 'smart' | 'fixed' | 'off';
  /**
   * What becomes of a question to the person that nobody answers in time: `park` leaves it, `decide` tells the agent to decide
   * itself. A permission is denied then.
   */
  questions: { deadlineMs: number | null; policy: 'park' | 'decide' };
};

/** Choices that the daemon reads again for each request. */
export type LiveChoice = 'provider' | 'switchOnFork';

export const usualChoices: Choices = {
  provider: null,
  switchOnFork: false,
  maxSessions: 256,
  maxAgents: 2_048,
  rotateAccounts: [],
  budgets: { agent: noBudget, task: noBudget, project: noBudget },
  mcpServers: {},
  trustRepositorySettings: false,
  nudges: 'smart',
  questions: { deadlineMs: null, policy: 'park' },
};

/** What every room of the daemon is given. */
export type Platform = {
  home: Home;
  /** Agent 0. */
  rootId: string;
  store: Store;
  providers: Providers;
  authority: Authority;
  timing: Timing;
  choices: Choices;
  /** The choices that count without a restart, as `config.yaml` has them now. */
  currentChoices(): Promise<Pick<Choices, LiveChoice>>;
  prompts: PromptAssets;
  /** When this daemon came up. */
  startedAt: number;
  /** The `pawl` command as agents call it: a path. */
  pawl: string;
  environment: NodeJS.ProcessEnv;
  /** The daemon's time: it goes on evenly although the system's clock is set; see `clock.ts`. */
  clock: () => number;
  /** By their roots: what is known of a repository does not change while it stays where it is. */
  repositories: Map<string, Repository>;
  /** What rooms remember beside the facts. */
  caches: Caches;
  log: Logger;
};

/** Where a session's files are. */
export function sessionDirectory(home: Home, sessionId: string): string {
  return join(home.sessions, sessionId);
}

/** The process of a session as it was put on record, or null before that. */
export function identityOf({ pid, processStart }: Session): ProcessIdentity | null {
  return pid === null || processStart === null ? null : { pid, start: processStart };
}

/** Pawl's own git directory for a project. */
export function ownGitDirectory(home: Home, projectId: string): string {
  return join(home.repositories, `${projectId}.git`);
}

/** The project of an agent that has one. */
export async function projectOf(store: Store, agent: Agent): Promise<Project> {
  const project = agent.projectId === null ? null : await projectById(store.db, agent.projectId);
  if (project !== null) return project;
  throw new PawlError('project_not_found', `The agent ${agent.alias} belongs to no project.`);
}

/** The repository of a project. A project whose directory is gone is a clear error. */
export async function repositoryOf(platform: Platform, project: Project): Promise<Repository> {
  const known = platform.repositories.get(project.root);
  if (known !== undefined && existsSync(known.commonDir)) return known;
  const repository = await openRepository(project.root);
  platform.repositories.set(project.root, repository);
  return repository;
}

/** Drops the files that a fork carried, once nobody waits for them. What cannot be dropped is dropped at the next start. */
export async function dropQuietly(platform: Platform, projectId: string, agentId: string): Promise<void> {
  try {
    await dropSnapshot(ownGitDirectory(platform.home, projectId), agentId);
  } catch (error) {
    platform.log.warn({ agent: agentId, error: messageOf(error) }, 'a snapshot of files could not be dropped yet');
  }
}

/** Where an agent works. Without a branch it is a checkout of the target branch with a detached HEAD. */
export function placeOf(agent: Agent): { path: string; branch: string | null; base: string } {
  if (agent.worktree === null || agent.baseCommit === null) {
    throw new PawlError('internal', `The agent ${agent.alias} has no worktree of its own.`);
  }
  return { path: agent.worktree, branch: agent.branch, base: agent.baseCommit };
}

/** The same for an agent whose work is on a branch. */
export function branchPlaceOf(agent: Agent): { path: string; branch: string; base: string } {
  const { branch, ...place } = placeOf(agent);
  if (branch !== null) return { ...place, branch };
  throw new PawlError('conflict', `The agent ${agent.alias} has no branch of its own.`);
}
