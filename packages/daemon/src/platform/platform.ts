import type { Home } from '@pawl/protocol/node/home';
import type { McpServer } from '@pawl/providers/command';
import type { PromptAssets } from '@pawl/core/prompts/assets';
import type { Providers } from '@pawl/providers/registry';
import type { Repository } from '@pawl/git/repository/repository';
import type { AccessLevel } from '@pawl/schema/access-level';
import { openRepository } from '@pawl/git/repository/repository';
import { dropSnapshot } from '@pawl/git/snapshot/snapshot';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { Host } from '@pawl/host/host';
import type { SessionAddress } from '@pawl/host/process/family';
import type { ProcessIdentity } from '@pawl/host/process/identity';
import type { Agent, Budget, Project, Session } from '@pawl/schema/record';
import type { NamedModel } from '@pawl/schema/model/named-model';
import type { Rule } from '@pawl/schema/rule';
import { noBudget } from '@pawl/schema/record';
import { defaultSandboxLimits } from '@pawl/schema/home-config';
import { projectById } from '@pawl/store/projects/projects';
import type { Store } from '@pawl/store/store';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Caches } from './caches.ts';
import type { Authority } from './http/authority.ts';
import type { SandboxChoices, Sandboxing } from './sandboxing.ts';

/** Intervals and timeouts; tests shorten them. */
export type Timing = {
  stopGraceMs: number;
  hungAfterSignalMs: number;
  hungAfterResultMs: number;
  livenessMs: number;
  limitGraceMs: number;
  /** Intervals of mail delivery, health checks and nudges; and the minimum between two nudges of one agent. */
  routeMs: number;
  healthMs: number;
  nudgeMs: number;
  nudgeGapMs: number;
  /** Interval of queue passes, and the shorter one while a person's files block a queue. */
  queueMs: number;
  queueWaitMs: number;
  /** How long an observation of foreign agents stays valid. */
  adoptionMs: number;
};

/** The settings in `config.yaml`. */
export type Choices = {
  /** The default provider of new agents; null when none is configured. */
  provider: string | null;
  /** The default access of new agents; null when none is configured. */
  access: AccessLevel | null;
  /** Models of the engine by name, and the name or model that it uses by default. */
  models: Record<string, NamedModel>;
  defaultModel: string | null;
  /** Rules for all agents. */
  rules: Pick<Rule, 'effect' | 'match'>[];
  /** Switches the person to the child after a fork, unless the fork overrides it. */
  switchOnFork: boolean;
  /** Sessions that may run at once, and agents that may work at once; others wait. */
  maxSessions: number;
  maxAgents: number;
  /** Providers whose agents switch to another account when theirs reaches a limit. */
  rotateAccounts: string[];
  /** Limits of each agent, each run, and each project per day. */
  budgets: { agent: Budget; task: Budget; project: Budget };
  /** MCP servers for every session whose provider supports them. */
  mcpServers: Record<string, McpServer>;
  /** Trusts the coding-CLI settings of every repository. */
  trustRepositorySettings: boolean;
  /** Sessions with an API key call their model through the proxy. */
  proxy: boolean;
  /**
   * `listed` sends the connections of sessions through the proxy, which knows the allowed hosts; `auto` does so in a
   * sandbox.
   */
  network: 'auto' | 'open' | 'listed';
  /** `smart` nudges only agents that may have something to do, `fixed` all agents with a nudge, each time. */
  nudges: 'smart' | 'fixed' | 'off';
  /**
   * Applies to a question that the person does not answer in time: `park` leaves it open, `decide` tells the agent to
   * decide itself. A permission is denied.
   */
  questions: { deadlineMs: number | null; policy: 'park' | 'decide' };
  sandbox: SandboxChoices;
};

/** Settings that the daemon reads again for each request. */
export type LiveChoice = 'provider' | 'access' | 'rules' | 'switchOnFork' | 'models' | 'defaultModel';

export const defaultChoices: Choices = {
  provider: null,
  access: null,
  models: {},
  defaultModel: null,
  rules: [],
  switchOnFork: false,
  maxSessions: 256,
  maxAgents: 2_048,
  rotateAccounts: [],
  budgets: { agent: noBudget, task: noBudget, project: noBudget },
  mcpServers: {},
  trustRepositorySettings: false,
  proxy: true,
  network: 'auto',
  nudges: 'smart',
  questions: { deadlineMs: null, policy: 'park' },
  sandbox: { mode: 'auto', readable: [], writable: [], limits: defaultSandboxLimits },
};

/** The parts of the daemon that every room uses. */
export type Platform = {
  home: Home;
  /** Agent 0. */
  rootId: string;
  store: Store;
  providers: Providers;
  authority: Authority;
  timing: Timing;
  choices: Choices;
  /** The settings that apply without a restart, read from `config.yaml` now. */
  currentChoices(): Promise<Pick<Choices, LiveChoice>>;
  prompts: PromptAssets;
  startedAt: number;
  /** The path of the `pawl` command for agents. */
  pawl: string;
  environment: NodeJS.ProcessEnv;
  /** The daemon's time, which advances evenly even if the system clock is set; see `clock.ts`. */
  clock: () => number;
  /** Repositories by root. A repository's facts do not change while it stays in place. */
  repositories: Map<string, Repository>;
  caches: Caches;
  /** Starts, finds and ends the processes of sessions and checks. */
  host: Host;
  /** The sandbox that sessions and checks run in. */
  sandbox: Sandboxing;
  log: Logger;
};

export function sessionDirectory(home: Home, sessionId: string): string {
  return join(home.sessions, sessionId);
}

/** The recorded process of a session, or null before it is recorded. */
export function identityOf({ pid, processStart }: Session): ProcessIdentity | null {
  return pid === null || processStart === null ? null : { pid, start: processStart };
}

/** Identifies the processes of a session in order to signal them. */
export function addressOf(home: Home, session: Session): SessionAddress {
  return { identity: identityOf(session), dir: sessionDirectory(home, session.id), marker: session.id };
}

/** Pawl's own git directory for a project. */
export function ownGitDirectory(home: Home, projectId: string): string {
  return join(home.repositories, `${projectId}.git`);
}

/** The project of an agent, or an error if it has none. */
export async function projectOf(store: Store, agent: Agent): Promise<Project> {
  const project = agent.projectId === null ? null : await projectById(store.db, agent.projectId);
  if (project !== null) return project;
  throw new PawlError('project_not_found', `The agent ${agent.alias} belongs to no project.`);
}

/** Opens a project's repository. Throws if its directory is gone. */
export async function repositoryOf(platform: Pick<Platform, 'repositories'>, project: Project): Promise<Repository> {
  const known = platform.repositories.get(project.root);
  if (known !== undefined && existsSync(known.commonDir)) return known;
  const repository = await openRepository(project.root);
  platform.repositories.set(project.root, repository);
  return repository;
}

/** Deletes the snapshot of files that a fork carried. A failure is logged, and retried at the next start. */
export async function dropForkSnapshot(platform: Platform, projectId: string, agentId: string): Promise<void> {
  try {
    await dropSnapshot(ownGitDirectory(platform.home, projectId), agentId);
  } catch (error) {
    platform.log.warn({ agent: agentId, error: messageOf(error) }, 'failed to drop a snapshot of files');
  }
}

/** The worktree of an agent. Without a branch it is a checkout of the target branch with a detached HEAD. */
export function placeOf(agent: Agent): { path: string; branch: string | null; base: string } {
  if (agent.worktree === null || agent.baseCommit === null) {
    throw new PawlError('internal', `The agent ${agent.alias} has no worktree of its own.`);
  }
  return { path: agent.worktree, branch: agent.branch, base: agent.baseCommit };
}

/** The worktree of an agent that has a branch. */
export function branchPlaceOf(agent: Agent): { path: string; branch: string; base: string } {
  const { branch, ...place } = placeOf(agent);
  if (branch !== null) return { ...place, branch };
  throw new PawlError('conflict', `The agent ${agent.alias} has no branch of its own.`);
}
