import { compareTasks } from '@pawl/core/plan/plan';
import { readyTasks } from '@pawl/core/plan/plan-reading';
import type { WorkBody } from '@pawl/protocol/agents/verb-view';
import { crashPoint } from '@pawl/schema/crash-point';
import { messageOf, PawlError } from '@pawl/schema/error';
import type { EventType } from '@pawl/schema/event';
import type { Initiative } from '@pawl/schema/plan/plan';
import type { Task } from '@pawl/schema/record';
import { listInitiatives } from '@pawl/store/plan/initiatives';
import { projectById } from '@pawl/store/projects/projects';
import { agentsOfTask, taskById } from '@pawl/store/projects/tasks';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { forkAndExec } from '../agents/fork.ts';
import { rootAgent } from '../platform/root-agent.ts';
import { planFacts } from '../tasks/plan-facts.ts';
import { planBase } from './plan-branch.ts';
import { blockTask } from '../tasks/tasks.ts';

/** Starts the tasks of launched plans. */
export type Dispatch = {
  /** Compares plans with what runs, and starts what may start. Any number may run at once. */
  pass(): Promise<void>;
  close(): Promise<void>;
};

/** The events after which a task may be free to start. */
const wakingEvents: ReadonlySet<EventType> = new Set<EventType>([
  'plan.approved',
  'plan.launched',
  'plan.resumed',
  'plan.edited',
  'phase.approved',
  'phase.changes_requested',
  'task.added',
  'task.completed',
  'task.finished',
  'task.requeued',
  'task.blocked',
]);

/** How often plans are compared although nothing woke the dispatch. */
const floorMs = 30_000;

/**
 * Dispatch remembers nothing: each pass reads the facts, and starting an agent claims its task in the transaction that
 * creates the agent. So neither a crash nor another pass starts a task twice.
 */
export function startDispatch(platform: SessionPlatform, start = startTask): Dispatch {
  const { store, log } = platform;
  let running: Promise<void> | null = null;
  let again = false;
  let closed = false;

  async function pass(): Promise<void> {
    for (const initiative of await listInitiatives(store.db)) {
      if (initiative.launchedAt === null || initiative.pausedAt !== null) continue;
      for (const task of readyTasks(await planFacts(store.db, initiative), compareTasks)) {
        if (closed) return;
        await start(platform, initiative, task);
        crashPoint('dispatch.after_start');
      }
    }
  }

  function wake(): void {
    if (closed) return;
    again = true;
    running ??= (async () => {
      while (again && !closed) {
        again = false;
        await pass().catch((error: unknown) => log.error({ error: messageOf(error) }, 'dispatch failed'));
      }
      running = null;
    })();
  }

  const unfollow = store.onCommit(({ events }) => {
    if (events.some(({ type }) => wakingEvents.has(type))) wake();
  });
  const floor = setInterval(wake, floorMs).unref();
  wake();
  return {
    pass,
    async close() {
      closed = true;
      unfollow();
      clearInterval(floor);
      await running;
    },
  };
}

/** Starts an agent on a task, once for each attempt. A task that cannot be started is blocked with the reason. */
async function startTask(platform: SessionPlatform, initiative: Initiative, task: Task): Promise<void> {
  const { db } = platform.store;
  const project = await projectById(db, initiative.projectId);
  if (project === null) return;
  const attempt = (await agentsOfTask(db, task.id)).length + 1;
  try {
    const base = await planBase(platform, project, initiative.branch);
    const start = base === undefined ? {} : { base };
    const body = { path: project.root, task: '', planned: task.id, ...start, ...launchBody(initiative) };
    const actor = { agent: await rootAgent(db), isPerson: true };
    await forkAndExec(platform, actor, body, `dispatch ${task.id} ${attempt}`, launchOptions(initiative));
  } catch (error) {
    // Another agent has claimed it meanwhile.
    if (error instanceof PawlError && error.code === 'conflict') return;
    platform.log.warn({ task: task.id, error: messageOf(error) }, 'failed to start a task');
    await platform.store.write(async (tx) => {
      const now = await taskById(tx.db, task.id);
      if (now === null || now.agentId !== null || now.blockedReason !== null) return;
      await blockTask(tx, now, `no agent could be started: ${messageOf(error)}`);
    });
  }
}

/** The credentials that a launch has fixed; a launch from before they were kept leaves them to the provider. */
function launchOptions({ launch }: Initiative): {
  given?: { accountId: string | null; environment: Record<string, string> };
} {
  if (launch === null || Object.keys(launch.environment).length === 0) return {};
  return { given: { accountId: launch.accountId, environment: launch.environment } };
}

/** The part of a request for work that a launch has fixed. */
function launchBody({ launch }: Initiative): Partial<WorkBody> {
  if (launch === null) return {};
  const { definition, provider, model, options, environment } = launch;
  const { PATH: searchPath } = environment;
  return {
    options,
    ...(searchPath === undefined ? {} : { searchPath }),
    ...(definition === null ? {} : { definition }),
    ...(provider === null ? {} : { provider }),
    ...(model === null ? {} : { model }),
  };
}
