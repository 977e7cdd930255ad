import { messageOf } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent, Session } from '@pawl/schema/record';
import { everyLivingAgent } from '@pawl/store/agents/agent-views';
import { placesOfAgents } from '@pawl/store/agents/places';
import { listProjects } from '@pawl/store/projects/projects';
import { rename, rm, writeFile } from 'node:fs/promises';
import { readFileSync, renameSync } from 'node:fs';
import type { GithubUrls } from '../platform/github-url.ts';
import { createGithubUrls } from '../platform/github-url.ts';
import type { Platform } from '../platform/platform.ts';

/** A projection of the registry for other programs, in the format they know. */
type State = {
  repos: Record<string, { github_url: string | null; tmux_session: null; agents: Record<string, object> }>;
};

/** Spends at most a tenth of the time on writing. */
const costShare = 10;

export type StateFile = { close(): Promise<void> };

/**
 * Keeps `state.json` up to date: after each change, rate-limited, by rename, readable by its owner only. Pawl never
 * reads it; a broken one is moved aside and rewritten.
 */
export function keepStateFile(platform: Platform): StateFile {
  quarantine(platform);
  const githubUrl = createGithubUrls(platform);
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  let costMs = 0;
  const write = () => {
    timer = null;
    writing = writing
      .then(async () => {
        const begin = performance.now();
        await writeState(platform, githubUrl);
        costMs = performance.now() - begin;
      })
      .catch((error: unknown) => platform.log.warn({ error: messageOf(error) }, 'failed to write state.json'));
  };
  const soon = () => {
    // With many agents it is written less often, so that it stays a small part of the daemon's load.
    timer ??= setTimeout(write, Math.max(limits.projectionMs, costMs * costShare));
    timer.unref();
  };
  const stopListening = platform.store.onCommit(({ events }) => {
    if (events.length > 0) soon();
  });
  write();
  return {
    async close() {
      stopListening();
      if (timer !== null) {
        clearTimeout(timer);
        write();
      }
      await writing;
    },
  };
}

async function writeState(platform: Platform, githubUrl: GithubUrls): Promise<void> {
  const draft = `${platform.home.state}.tmp`;
  await rm(draft, { force: true });
  await writeFile(draft, `${JSON.stringify(await readState(platform, githubUrl), null, 2)}\n`, {
    mode: 0o400,
    flag: 'wx',
  });
  await rename(draft, platform.home.state);
}

async function readState(platform: Platform, githubUrl: GithubUrls): Promise<State> {
  const { db } = platform.store;
  const state: State = { repos: {} };
  const projects = await listProjects(db);
  for (const project of projects)
    state.repos[project.name] = { github_url: await githubUrl(project), tmux_session: null, agents: {} };
  const names = new Map(projects.map((project) => [project.id, project.name]));
  const living = await everyLivingAgent(db);
  const several = living.filter(({ agent }) => agent.workdir !== null).map(({ agent }) => agent.id);
  const further = await placesOfAgents(db, several);
  for (const { agent, session } of living) {
    const known = { ...describe(agent), ...describeSession(session) };
    const places = [{ projectId: agent.projectId, path: agent.worktree }, ...(further.get(agent.id) ?? [])];
    for (const { projectId, path } of places) {
      const repository = state.repos[names.get(projectId ?? '') ?? ''];
      if (repository !== undefined) repository.agents[agent.alias] = { ...known, worktree_path: path };
    }
  }
  return state;
}

function describe(agent: Agent): object {
  return {
    type: agent.definition,
    tmux_window: null,
    created_at: new Date(agent.createdAt).toISOString(),
    task: agent.assignment ?? '',
    ready_for_cleanup: agent.completion !== null,
  };
}

function describeSession(session: Session | null): object {
  const pid = session !== null && session.endedAt === null ? session.pid : null;
  return { session_id: session?.providerSessionId ?? null, pid };
}

function quarantine({ home, log, startedAt }: Platform): void {
  try {
    JSON.parse(readFileSync(home.state, 'utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) return;
    renameSync(home.state, `${home.state}.broken-${startedAt}`);
    log.warn('state.json was broken; moved it aside and rewrote it');
  }
}
