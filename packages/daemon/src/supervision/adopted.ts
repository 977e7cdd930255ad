import { nothingInherited, planFork } from '@pawl/core/agents/fork';
import { agentPrograms } from '@pawl/roster/agent-program';
import type { Look } from '@pawl/roster/look-around';
import { lookAround } from '@pawl/roster/look-around';
import type { Probe } from '@pawl/roster/probe';
import { systemProbe } from '@pawl/roster/probe';
import type { Other, Roster } from '@pawl/roster/roster';
import { rosterOf } from '@pawl/roster/roster';
import { messageOf } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import type { Project } from '@pawl/schema/record';
import { noBudget } from '@pawl/schema/record';
import { livingAdopted } from '@pawl/store/agents/adopted';
import type { AdoptedAgent } from '@pawl/store/agents/adopted';
import { takenAliases, updateAgent } from '@pawl/store/agents/agents';
import { listProjects } from '@pawl/store/projects/projects';
import { sessionById } from '@pawl/store/sessions/sessions';
import { helperDefinition } from '../definitions/helper.ts';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { recordChild } from '../agents/add-child.ts';
import { rootAgent } from '../platform/root-agent.ts';

/** Finds agents that Pawl did not start. */
export type Adoption = {
  /** Adopts new agents and removes those that have left; may use a recent scan. Never fails. */
  look(): Promise<void>;
  /** The agent of this process; scans again if it is unknown, null if it is in no project. */
  find(process: { pid: number; start: string }): Promise<AdoptedAgent | null>;
  /** The agents in a project's checkout, except one agent's processes; may use a recent scan. */
  roster(root: string, exceptAgentId: string | null): Roster;
  close(): Promise<void>;
};

/**
 * Keeps the registry up to date about agents that people started themselves in a project. They are observed and listed,
 * and their processes are never touched.
 */
export function createAdoption(platform: DefinitionPlatform): Adoption {
  const probe = systemProbe(platform.environment, agentPrograms(platform.providers.list()));
  let looking: Promise<void> | null = null;
  let lookedAt = -Infinity;
  let seen: { look: Look; at: number } | null = null;
  let closed = false;

  /** Scans all processes. That blocks the daemon for a moment, so callers share a recent scan. */
  function scanProcesses(maxAgeMs: number): Look {
    // Measured by a clock that cannot be set.
    if (seen === null || performance.now() - seen.at >= maxAgeMs)
      seen = { look: lookAround(probe.view, probe.recognise), at: performance.now() };
    return seen.look;
  }

  async function look(): Promise<void> {
    try {
      const projects = await listProjects(platform.store.db);
      if (projects.length === 0) return;
      const now = scanProcesses(0);
      const known = await livingAdopted(platform.store.db);
      for (const agent of known.filter((each) => !isThere(now, each))) await letGo(platform, agent);
      for (const { project, other } of await strangers(platform, probe, now, projects)) {
        if (!known.some(({ adopted }) => adopted.pid === other.pid && adopted.start === other.start))
          await adopt(platform, project, other);
      }
    } catch (error) {
      // The agents present are unknown then, so nothing changes.
      platform.log.warn({ error: messageOf(error) }, 'failed to scan for agents that others started');
    }
  }

  async function lookAgain(): Promise<void> {
    if (closed || (looking === null && performance.now() - lookedAt < platform.timing.adoptionMs)) return;
    looking ??= look().finally(() => {
      looking = null;
      lookedAt = performance.now();
    });
    await looking;
  }

  async function find({ pid, start }: { pid: number; start: string }): Promise<AdoptedAgent | null> {
    const known = async () =>
      (await livingAdopted(platform.store.db)).find(({ adopted }) => adopted.pid === pid && adopted.start === start) ??
      null;
    const found = await known();
    if (found !== null || closed) return found;
    // It may have started since the last scan.
    await (looking ?? look());
    return known();
  }

  const timer = setInterval(() => void lookAgain(), platform.timing.healthMs).unref();
  return {
    look: lookAgain,
    find,
    roster(root, exceptAgentId) {
      const look = scanProcesses(platform.timing.adoptionMs);
      const roster = rosterOf({ view: probe.view, look, root, self: null, worktrees: [platform.home.worktrees] });
      return {
        ...roster,
        others: roster.others.filter(({ agentId }) => agentId === null || agentId !== exceptAgentId),
      };
    },
    async close() {
      closed = true;
      clearInterval(timer);
      await looking;
    },
  };
}

function isThere({ byPid }: Look, { adopted }: AdoptedAgent): boolean {
  return byPid.get(adopted.pid)?.start === adopted.start;
}

/** The foreign agents in the projects' checkouts; each belongs to the innermost project. */
async function strangers(
  platform: DefinitionPlatform,
  { view }: Probe,
  look: Look,
  projects: Project[],
): Promise<{ project: Project; other: Other }[]> {
  const found = new Map<number, { project: Project; other: Other }>();
  for (const project of projects.toSorted((a, b) => a.root.length - b.root.length)) {
    for (const other of othersIn(platform, { view, look, root: project.root })) {
      const isOurs = other.session !== null && (await sessionById(platform.store.db, other.session)) !== null;
      if (!isOurs) found.set(other.pid, { project, other });
    }
  }
  return [...found.values()];
}

function othersIn(
  platform: DefinitionPlatform,
  given: Pick<Parameters<typeof rosterOf>[0], 'view' | 'look' | 'root'>,
): Other[] {
  try {
    return rosterOf({ ...given, self: null, worktrees: [platform.home.worktrees] }).others;
  } catch (error) {
    // The project's directory is gone.
    platform.log.debug({ root: given.root, error: messageOf(error) }, 'failed to scan a project');
    return [];
  }
}

/** Records an adopted agent, through the same function as all agents. */
async function adopt(platform: DefinitionPlatform, project: Project, other: Other): Promise<void> {
  const definition = await platform.definitions.find(project, helperDefinition);
  const { pid, start, cwd, provider } = other;
  await platform.store.write(async (tx) => {
    const parent = await rootAgent(tx.db);
    const taken = new Set(await takenAliases(tx.db, project.id));
    const plan = planFork({
      parent,
      inherits: nothingInherited,
      definition,
      project,
      preset: platform.providers.get(provider),
      model: null,
      options: {},
      mode: 'execute',
      accountId: null,
      environment: {},
      budget: noBudget,
      access: 'full',
      accessNeeds: null,
      keyProxy: null,
      taskId: null,
      assignment: null,
      alias: freeAlias(`${provider}-${pid}`, taken),
      baseCommit: null,
      worktree: null,
      snapshot: null,
      adopted: { pid, start, cwd },
      task: null,
      parentRunId: null,
      ids: { agent: newId(), run: newId() },
      now: tx.now,
    });
    await recordChild(tx, plan);
    const about = { projectId: project.id, agentId: plan.agent.id };
    tx.emit({ type: 'agent.adopted', ...about, data: { pid, cwd, provider } });
  });
}

function freeAlias(wanted: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const alias = number === 1 ? wanted : `${wanted}-${number}`;
    if (!taken.has(alias)) return alias;
  }
}

/** Records that an adopted agent has left. */
async function letGo(platform: DefinitionPlatform, agent: AdoptedAgent): Promise<void> {
  await platform.store.write(async (tx) => {
    await updateAgent(tx, agent.id, { endedAt: tx.now, endReason: 'left' });
    const about = { projectId: agent.projectId, agentId: agent.id };
    tx.emit({ type: 'agent.left', ...about, data: { pid: agent.adopted.pid } });
  });
}
