import { chooseAlias } from '@pawl/core/alias';
import type { WorkRequest } from '@pawl/core/work';
import { checkOptions, checkTask, planWork } from '@pawl/core/work';
import type { WorkBody } from '@pawl/protocol/view';
import type { Repository } from '@pawl/git/repository';
import { listBranches, openRepository, resolveCommit } from '@pawl/git/repository';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import type { Agent, Project } from '@pawl/schema/record';
import { agentById, insertAgent, livingAliases } from '@pawl/store/agents';
import { appendMessage } from '@pawl/store/messages';
import { projectByRoot } from '@pawl/store/projects';
import { insertRun } from '@pawl/store/runs';
import { getSetting, setSetting } from '@pawl/store/settings';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import { join } from 'node:path';
import type { Workshop } from '../workshop.ts';
import { rootAgent } from './root-agent.ts';

const branchPrefix = 'work/';

/** Setting that remembers which agent a request made, so that the same request makes it once. */
export const idempotencyPrefix = 'idempotency:';

/**
 * Forks a worker off agent 0. When this returns, the agent is in the registry with everything needed to start it; its
 * worktree and process follow, whatever happens to this daemon.
 */
export async function forkWorker(shop: Workshop, body: WorkBody, idempotencyKey: string | undefined): Promise<Agent> {
  const request: WorkRequest = { task: body.task, model: body.model ?? null, options: body.options ?? {} };
  checkTask(request.task);
  const preset = shop.providers.get(body.provider);
  checkOptions(preset, request);
  const repository = await openRepository(body.path);
  const project = await registeredProject(shop, repository);
  const [baseCommit, listed] = await Promise.all([
    resolveCommit(repository, body.base),
    listBranches(repository, branchPrefix),
  ]);
  const branches = listed.map(({ name }) => name.slice(branchPrefix.length));
  const agent = await shop.store.write(async (tx) => {
    const earlier = await agentOfRequest(tx, idempotencyKey);
    if (earlier !== null) return earlier;
    const taken = new Set([...branches, ...(await livingAliases(tx.db, project.id))]);
    const alias = body.alias ?? chooseAlias(taken, Math.random);
    if (taken.has(alias)) throw aliasTaken(alias);
    const plan = planWork({
      request,
      project,
      parent: await rootAgent(tx.db),
      preset,
      alias,
      baseCommit,
      worktree: join(shop.home.worktrees, project.name, alias),
      ids: { agent: newId(), run: newId() },
      now: tx.now,
    });
    await insertAgent(tx, plan.agent);
    await insertRun(tx, plan.run);
    await appendMessage(tx, plan.message);
    for (const event of plan.events) tx.emit(event);
    if (idempotencyKey !== undefined) await setSetting(tx, idempotencyPrefix + idempotencyKey, plan.agent.id);
    return plan.agent;
  });
  crashPoint('spawn.after_fork');
  return agent;
}

async function registeredProject(shop: Workshop, repository: Repository): Promise<Project> {
  const project = await projectByRoot(shop.store.db, repository.root);
  if (project !== null) return project;
  throw new PawlError('project_not_found', `${repository.root} is not a project yet.`, {
    hint: 'Run `pawl init` there first.',
  });
}

async function agentOfRequest(tx: WriteTransaction, key: string | undefined): Promise<Agent | null> {
  if (key === undefined) return null;
  const id = await getSetting(tx.db, idempotencyPrefix + key);
  return typeof id === 'string' ? agentById(tx.db, id) : null;
}

function aliasTaken(alias: string): PawlError {
  return new PawlError(
    'conflict',
    `The alias ${alias} is taken by a living agent or a branch ${branchPrefix}${alias}.`,
    {
      hint: 'Choose another one, or leave it out.',
    },
  );
}
