import { chooseAlias } from '@pawl/core/agents/alias';
import { firstAssignment } from '@pawl/core/agents/assignment';
import type { ForkPlan, ForkRequest, Inheritance } from '@pawl/core/agents/fork';
import { planFork, refuseParent } from '@pawl/core/agents/fork';
import { taskText } from '@pawl/core/plan/plan';
import { crashPoint } from '@pawl/schema/crash-point';
import { PawlError } from '@pawl/schema/error';
import type { Agent, Project } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { insertAgent, takenAliases, takenWorkdirs } from '@pawl/store/agents/agents';
import { appendMessage } from '@pawl/store/sessions/messages';
import { insertPlace } from '@pawl/store/agents/places';
import { insertRun } from '@pawl/store/sessions/runs';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { Platform } from '../platform/platform.ts';
import { agentOfRequest, rememberRequest } from '../platform/idempotency.ts';
import type { Ground } from './grounds.ts';
import { branchPrefix, layoutOf, namesInUse } from './grounds.ts';
import { reservedAliases } from './selection.ts';
import { switchPerson } from '../registry/current-agent.ts';
import { claimTask, dependenciesOf } from '../tasks/tasks.ts';

/** The caller that requests a new agent: a person acting as an agent, or that agent itself. */
export type Actor = { agent: Agent; isPerson: boolean };

/** Everything decided before the fork's transaction: slow work, and early refusals. */
export type Prepared = Omit<
  ForkRequest,
  | 'parent'
  | 'inherits'
  | 'alias'
  | 'assignment'
  | 'project'
  | 'baseCommit'
  | 'snapshot'
  | 'worktree'
  | 'workdir'
  | 'places'
  | 'now'
> & {
  alias: string | undefined;
  /** The projects, the first one first, with the starting point in each. */
  grounds: (Ground & Beginning)[];
  inherit: (db: Database, parent: Agent) => Promise<Inheritance>;
  record?: Resting['record'];
};

/** An agent forked without a task: idle until mail or a person starts its first turn. */
export type Resting = {
  /** Null for a worktree without a branch. */
  branch: string | null;
  /** Runs in the transaction that creates the agent. */
  record(tx: WriteTransaction, agent: Agent): Promise<void>;
};

/** The commit and files from which the work in one project starts. */
type Beginning = { baseCommit: string; snapshot: string | null };

/** The transaction of every fork. */
export async function addChild(
  platform: Platform,
  actor: Actor,
  key: string | undefined,
  prepared: Prepared,
  switchTo = false,
): Promise<Agent> {
  const { grounds, inherit, record, alias: wanted, ...request } = prepared;
  const [first, ...others] = grounds;
  const inUse = await namesInUse(platform.home, grounds);
  const agent = await platform.store.write(async (tx) => {
    const earlier = await agentOfRequest(tx.db, key);
    if (earlier !== null) return earlier;
    const parent = await livingParent(tx, actor);
    const projects = grounds.map(({ project }) => project);
    const alias = await freeAlias(tx, projects, wanted, inUse);
    const layout = layoutOf(platform.home, alias, projects);
    const inherits = await inherit(tx.db, parent);
    const planned = await plannedTask(tx, request, first?.project ?? null);
    const plan = planFork({
      ...request,
      ...planned,
      project: first?.project ?? null,
      baseCommit: first?.baseCommit ?? null,
      snapshot: first?.snapshot ?? null,
      worktree: layout.worktree,
      workdir: layout.workdir,
      places: others.map(({ project, baseCommit, snapshot }, index) => ({
        projectId: project.id,
        path: layout.others[index] ?? '',
        baseCommit,
        snapshot,
      })),
      parent,
      inherits,
      alias,
      now: tx.now,
    });
    await recordChild(tx, plan);
    await record?.(tx, plan.agent);
    if (switchTo) await switchPerson(tx, plan.agent.id);
    await rememberRequest(tx, key, plan.agent.id);
    crashPoint('fork.before_commit');
    return plan.agent;
  });
  crashPoint('spawn.after_fork');
  return agent;
}

/** Records a planned child, in a transaction that may do more. All agents except agent 0 are created here. */
export async function recordChild(tx: WriteTransaction, plan: ForkPlan): Promise<void> {
  await insertAgent(tx, plan.agent);
  for (const place of plan.places) await insertPlace(tx, place);
  crashPoint('fork.after_agent');
  if (plan.run !== null) await insertRun(tx, plan.run);
  crashPoint('fork.after_run');
  for (const message of plan.messages) {
    await appendMessage(tx, message);
    crashPoint('fork.after_message');
  }
  for (const event of plan.events) tx.emit(event);
}

/** The planned task of the child, if any, claimed in the same transaction. */
async function plannedTask(
  tx: WriteTransaction,
  { taskId, task, ids }: Pick<ForkRequest, 'taskId' | 'task' | 'ids'>,
  project: Project | null,
): Promise<Pick<ForkRequest, 'taskId' | 'task' | 'assignment'>> {
  if (taskId === null || project === null) return { taskId: null, task, assignment: firstAssignment(task, null) };
  const claimed = await claimTask(tx, taskId, project.id, ids.agent);
  const text = taskText(claimed, await dependenciesOf(tx.db, claimed));
  const whole = task === null || task.trim() === '' ? text : `${text}\n\n${task}`;
  return { taskId: claimed.id, task: whole, assignment: firstAssignment(whole, claimed) };
}

/** The parent as it is now: it may have been killed or stopped while the fork was prepared. */
async function livingParent(tx: WriteTransaction, actor: Actor): Promise<Agent> {
  const facts = await agentView(tx.db, actor.agent.id);
  if (facts === null) throw new PawlError('agent_not_found', `There is no agent ${actor.agent.id}.`);
  refuseParent(facts.agent);
  if (!actor.isPerson && facts.agent.stopRequestedAt !== null) {
    throw new PawlError('conflict', `The agent ${facts.agent.alias} is being stopped.`);
  }
  return facts.agent;
}

async function freeAlias(
  tx: WriteTransaction,
  projects: readonly Project[],
  wanted: string | undefined,
  inUse: string[],
): Promise<string> {
  if (wanted !== undefined && reservedAliases.includes(wanted)) {
    throw new PawlError('invalid_input', `The alias ${wanted} is reserved.`, {
      hint: 'Choose another one.',
    });
  }
  const taken = new Set(inUse);
  const ids = projects.length === 0 ? [null] : projects.map(({ id }) => id);
  for (const id of ids) for (const alias of await takenAliases(tx.db, id)) taken.add(alias);
  if (projects.length !== 1) for (const alias of await takenWorkdirs(tx.db)) taken.add(alias);
  const alias = wanted ?? chooseAlias(taken, Math.random);
  if (!taken.has(alias)) return alias;
  throw new PawlError(
    'conflict',
    `The alias ${alias} is taken by a living agent or a branch ${branchPrefix}${alias}.`,
    { hint: 'Choose another one, or omit it.' },
  );
}
