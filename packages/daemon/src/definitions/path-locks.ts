import { isWithin, lockAgainst, lockInTheWay } from '@pawl/core/locks/path-lock';
import type { Definition } from '@pawl/schema/definition';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import type { PathLock } from '@pawl/schema/runtime/path-lock';
import { pathLockLimits } from '@pawl/schema/runtime/path-lock';
import type { Agent } from '@pawl/schema/record';
import { agentById } from '@pawl/store/agents/agents';
import { extendPathLock, insertPathLock, pathLocksOf, releasePathLock } from '@pawl/store/locks/path-locks';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { DefinitionPlatform } from './definition-platform.ts';

/**
 * Locks paths for an agent until the lease ends. An equal lock of its own is extended, and keeps its id. Refused while
 * another agent has a lock that may overlap.
 */
export async function lockPaths(
  { store }: Pick<DefinitionPlatform, 'store'>,
  agent: Agent,
  { globs, leaseMs = pathLockLimits.leaseMs }: { globs: readonly string[]; leaseMs?: number | undefined },
): Promise<PathLock> {
  const projectId = projectIdOf(agent);
  return store.write((tx) => lockIn(tx, { agent, projectId, globs, leaseMs }));
}

async function lockIn(
  tx: WriteTransaction,
  wanted: { agent: Agent; projectId: string; globs: readonly string[]; leaseMs: number },
): Promise<PathLock> {
  const { agent, projectId, globs, leaseMs } = wanted;
  const locks = await pathLocksOf(tx.db, projectId, tx.now);
  const other = lockInTheWay(locks, agent.id, globs);
  if (other !== null) {
    throw new PawlError('conflict', `${await describe(tx.db, other, tx.now)} is in the way.`, {
      hint: 'Wait for its end, or agree with its owner by mail.',
      details: { lock: other.globs, until: other.expiresAt },
    });
  }
  const own = locks.filter(({ agentId }) => agentId === agent.id);
  const expiresAt = tx.now + leaseMs;
  const known = own.find((lock) => lock.globs.toSorted(compare).join('\n') === globs.toSorted(compare).join('\n'));
  if (known !== undefined) {
    await extendPathLock(tx, known.id, expiresAt);
    return { ...known, expiresAt: Math.max(known.expiresAt, expiresAt) };
  }
  if (own.length >= pathLockLimits.ofAgent) {
    throw new PawlError('conflict', `${agent.alias} has ${own.length} locks already.`, { hint: 'Release some first.' });
  }
  const lock: PathLock = { id: newId(), projectId, agentId: agent.id, globs: [...globs], createdAt: tx.now, expiresAt };
  await insertPathLock(tx, lock);
  return lock;
}

/** Releases a lock by its id; false if it had ended. */
export async function unlockPaths({ store }: Pick<DefinitionPlatform, 'store'>, lockId: string): Promise<boolean> {
  return store.write((tx) => releasePathLock(tx, lockId));
}

/** The locks in an agent's project. */
export async function locksAround(
  platform: Pick<DefinitionPlatform, 'store' | 'clock'>,
  agent: Agent,
): Promise<PathLock[]> {
  return pathLocksOf(platform.store.db, projectIdOf(agent), platform.clock());
}

/**
 * Why an agent may not write to a path, given from the top of its worktree; null if it may. A path that the definition
 * locks by default is locked with the write, and the lease begins anew with each.
 */
export async function refuseWrite(
  platform: Pick<DefinitionPlatform, 'store' | 'clock'>,
  { agent, definition }: { agent: Agent; definition: Definition },
  path: string,
): Promise<string | null> {
  const { id, workGlobs, lockGlobs } = definition;
  const isOutside = path.startsWith('/') || path.startsWith('../');
  if (workGlobs.length > 0 && !isOwnOutput(path) && (isOutside || !isWithin(workGlobs, path))) {
    return `${path} is outside of the work scope of ${id}, which is ${workGlobs.join(', ')}`;
  }
  if (agent.projectId === null || isOutside) return null;
  const locks = await pathLocksOf(platform.store.db, agent.projectId, platform.clock());
  const other = lockAgainst(locks, agent.id, path);
  if (other !== null) return `${path} is locked: ${await describe(platform.store.db, other, platform.clock())}`;
  if (!isWithin(lockGlobs, path)) return null;
  try {
    await lockPaths(platform, agent, { globs: lockGlobs });
    return null;
  } catch (error) {
    if (error instanceof PawlError && error.code === 'conflict') return error.message;
    throw error;
  }
}

/** Every agent writes its signal there. */
function isOwnOutput(path: string): boolean {
  return path.startsWith('.pawl/output/');
}

async function describe(db: Database, { agentId, globs, expiresAt }: PathLock, now: number): Promise<string> {
  const owner = await agentById(db, agentId);
  const seconds = Math.max(1, Math.ceil((expiresAt - now) / 1_000));
  return `the lock of ${owner?.alias ?? agentId} on ${globs.join(', ')}, for ${seconds} s more`;
}

function projectIdOf({ alias, projectId }: Agent): string {
  if (projectId !== null) return projectId;
  throw new PawlError('conflict', `${alias} has no project, so there is nothing to lock.`);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
