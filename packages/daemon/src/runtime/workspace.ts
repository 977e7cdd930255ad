import { statusOf } from '@pawl/core/runtime/agent-status';
import { worktreeStatus } from '@pawl/git/worktree/worktree-status';
import type { WorkspaceNode, WorkspaceState, WorkspaceTree } from '@pawl/protocol/runtime/view';
import { messageOf } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Agent, Project } from '@pawl/schema/record';
import { listAgents } from '@pawl/store/agents/agent-views';
import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { agentIn } from '../platform/places.ts';
import type { Platform } from '../platform/platform.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import type { Runtime } from './runtime.ts';
import { queueOf } from './stored-events.ts';

/** How many files one answer has. */
const treeFiles = 2_000;

/** The uncommitted files of the agents that work in a project, as a tree. Two agents may change one file: newest wins. */
export async function workspaceTree(platform: Platform, project: Project): Promise<WorkspaceTree> {
  const children: Record<string, WorkspaceNode> = {};
  let files = 0;
  let truncated = false;
  const working = await listAgents(platform.store.db, { projectId: project.id, limit: limits.pageRows });
  for (const { agent, run } of working) {
    if (run === null || run.outcome !== null) continue;
    const found = await changedFiles(platform, project, agent);
    truncated ||= found.truncated || files + found.paths.length > treeFiles;
    for (const path of found.paths.slice(0, treeFiles - files)) {
      addFile(children, path.split('/'), {
        type: 'file',
        agent: agent.alias,
        status: 'working',
        path,
        last_modified: await modifiedAt(join(found.root, path)),
      });
      files++;
    }
  }
  return { tree: { [basename(project.root)]: { type: 'dir', children } }, truncated };
}

async function changedFiles(
  platform: Platform,
  project: Project,
  agent: Agent,
): Promise<{ root: string; paths: string[]; truncated: boolean }> {
  const there = (await agentIn(platform.store.db, agent, project.id)) ?? agent;
  const none = { root: '', paths: [], truncated: false };
  if (there.worktree === null || there.worktreeReadyAt === null) return none;
  try {
    const repository = await repositoryOf(platform, project);
    const ownDir = ownGitDirectory(platform.home, project.id);
    const status = await worktreeStatus(repository, { ownDir, path: there.worktree });
    const all = status.changed + status.untracked;
    return { root: there.worktree, paths: status.files, truncated: status.truncated || status.files.length < all };
  } catch (error) {
    platform.log.warn({ agent: agent.alias, error: messageOf(error) }, 'failed to read a worktree');
    return { ...none, truncated: true };
  }
}

/** Adds a file below its directories; the first agent keeps a path that two agents change. */
function addFile(children: Record<string, WorkspaceNode>, words: readonly string[], file: WorkspaceNode): void {
  const [name = '', ...rest] = words;
  if (name === '') return;
  const known = Object.hasOwn(children, name) ? children[name] : undefined;
  if (rest.length === 0 || (rest.length === 1 && rest[0] === '')) {
    if (known === undefined) define(children, name, file);
    return;
  }
  if (known?.type === 'file') return;
  const directory: WorkspaceNode = known ?? { type: 'dir', children: {} };
  if (known === undefined) define(children, name, directory);
  if (directory.type === 'dir') addFile(directory.children, rest, file);
}

/** A file may be called `__proto__`. */
function define(children: Record<string, WorkspaceNode>, name: string, node: WorkspaceNode): void {
  Object.defineProperty(children, name, { value: node, enumerable: true, configurable: true, writable: true });
}

async function modifiedAt(path: string): Promise<number | null> {
  try {
    return Math.round((await lstat(path)).mtimeMs);
  } catch {
    // It was deleted.
    return null;
  }
}

/** The living agents of a project, with their status and the messages that wait for them. */
export async function workspaceState(
  platform: Platform,
  runtime: Pick<Runtime, 'status'>,
  project: Project,
): Promise<WorkspaceState> {
  const living = await listAgents(platform.store.db, { projectId: project.id, limit: limits.pageRows });
  const agents = [];
  for (const { agent, run } of living) {
    const { status, detail } = runtime.status(agent.id) ?? statusOf({ live: 'idle', detail: '' });
    agents.push({
      agent_id: agent.id,
      agent: agent.alias,
      kind: agent.kind,
      definition: agent.definition,
      parent_id: agent.parentId,
      status,
      detail,
      run_id: run?.id ?? null,
      session_id: run?.sessionId ?? null,
      queue: await queueOf(platform, agent.id),
    });
  }
  return { project_root: project.root, agents };
}
