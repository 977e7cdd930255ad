import { changeState } from '@pawl/core/changes/change-state';
import { createLanes } from '@pawl/core/sessions/turn-taking';
import { ensureOwnDirectory } from '@pawl/git/merge/own-directory';
import { tidyOwnDirectory } from '@pawl/git/merge/tidy';
import { branchTip } from '@pawl/git/repository/repository';
import type { Queue } from '@pawl/schema/change';
import { messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Project } from '@pawl/schema/record';
import { openChanges } from '@pawl/store/changes/changes';
import { openChecks } from '@pawl/store/changes/checks';
import { placesOfAgent } from '@pawl/store/agents/places';
import { countOpenSessions } from '@pawl/store/sessions/sessions';
import { projectSettings } from '@pawl/store/projects/project-settings';
import { listProjects, projectById } from '@pawl/store/projects/projects';
import { allQueues, queueOf, updateQueue } from '@pawl/store/changes/queues';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Reconciler } from '../sessions/reconcile/reconciler.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import type { Bench } from '../changes/landing/advance.ts';
import { finishBegun } from '../changes/landing/advance.ts';
import { beginIfConfigured, openMissing } from '../changes/changes.ts';
import type { Checker } from '../checks/checker.ts';
import { createChecker } from '../checks/checker.ts';
import { createCrew } from '../changes/repair/crew.ts';
import { configPath } from '../project-config/config-file.ts';
import { recordDivergence } from './divergence.ts';
import { isRewritten, noteRewritten } from './dropped.ts';
import { changeFacts, projectFacts } from '../changes/facts.ts';
import { readLastConfig, readProjectConfig } from '../project-config/project-config.ts';
import { lookAtQueue } from './queue.ts';
import { queueEvents } from './queue-events.ts';
import { examineAll } from './queue-examine.ts';
import { followRemote } from './follow-remote.ts';
import { foreseeConflicts } from './foresee.ts';
import { lookAtForge } from '../forge-sync/forge-look.ts';
import { settleTasks } from '../plan/settle-tasks.ts';
import { createRefresh } from './refresh.ts';
import type { Target } from '../project-config/target.ts';
import { findTarget } from '../project-config/target.ts';

/** The merge queues of all projects. */
export type Ratchet = {
  /** Looks where the target branch is now, and records it: before something is refused by what was seen earlier. */
  seeTarget(projectId: string): Promise<void>;
  /** Checks the target branch as it is now, whatever is known of it. */
  checkMain(projectId: string): Promise<void>;
  /** Takes up the checks that run from an earlier life, and begins to look. */
  begin(): Promise<void>;
  /** Nothing begins any more; checks that run go on by themselves. */
  close(): Promise<void>;
};

/** What is kept in memory of one project's queue: nothing that could not be found again. */
type Watch = {
  askedAt: number | null;
  isDue: boolean;
  timer: NodeJS.Timeout | null;
  target: { found: Target; at: number } | null;
  /** The target branch when there was nothing left to do; null when there may be. */
  rest: { tip: string; branch: string; isRemote: boolean; at: number } | null;
  /** When a red main is checked again, in case that it was not main that failed. */
  recheckAt: number | null;
  /** How often in a row it was looked whether what is in the way has gone. */
  waits: number;
};

/** Drives every project's queue: one look at a time for each. */
export function createRatchet(platform: SessionPlatform, parts: { reconciler: Reconciler }): Ratchet {
  const { store } = platform;
  const lanes = createLanes();
  const watches = new Map<string, Watch>();
  const crew = createCrew(platform);
  const refresh = createRefresh(platform, parts);
  const checker: Checker = createChecker(platform);
  let closed = false;
  let ticking: NodeJS.Timeout | null = null;
  let stopListening = () => {};

  function watchOf(projectId: string): Watch {
    const known = watches.get(projectId) ?? {
      askedAt: null,
      isDue: false,
      timer: null,
      target: null,
      rest: null,
      recheckAt: null,
      waits: 0,
    };
    watches.set(projectId, known);
    return known;
  }

  function wake(projectId: string): void {
    const watch = watchOf(projectId);
    // Whoever is woken twice before it looks, looks once.
    if (closed || watch.isDue) return;
    watch.isDue = true;
    void lanes.run(projectId, async () => {
      // What happens together is looked at together.
      await delay(limits.queueDebounceMs, undefined, { ref: false });
      watch.isDue = false;
      if (!closed) await look(projectId, watch);
    });
  }

  /** An agent with several projects concerns the queue of each. */
  async function wakeFurther(agentId: string): Promise<void> {
    try {
      for (const { projectId } of await placesOfAgent(store.db, agentId)) wake(projectId);
    } catch (error) {
      platform.log.warn({ agent: agentId, error: messageOf(error) }, 'the queues of further projects were not woken');
    }
  }

  async function look(projectId: string, watch: Watch): Promise<void> {
    const againMs = await lookOnce(projectId, watch).catch(async (error: unknown) => {
      if (!(error instanceof PawlError)) platform.log.error({ project: projectId, error }, 'queue pass failed');
      const hint = error instanceof PawlError ? (error.hint ?? null) : null;
      await noteTrouble(projectId, messageOf(error), hint).catch(() => undefined);
      // Most failures pass at once: a lock that somebody's git holds for a moment, a program that could not be started.
      return platform.timing.queueWaitMs;
    });
    watch.waits = againMs === null || againMs === 0 ? 0 : watch.waits + 1;
    // After many waits in a row it looks less often.
    const isPatient = watch.waits > limits.quickWaits;
    if (againMs !== null) lookAgain(projectId, watch, isPatient ? platform.timing.queueMs : againMs);
  }

  function lookAgain(projectId: string, watch: Watch, afterMs: number): void {
    if (closed) return;
    if (watch.timer !== null) clearTimeout(watch.timer);
    watch.timer = setTimeout(() => wake(projectId), afterMs).unref();
  }

  /** Returns after how long to look again, null when only somebody's wake or the tick is a reason to. */
  async function lookOnce(projectId: string, watch: Watch): Promise<number | null> {
    const project = await projectById(store.db, projectId);
    watch.rest = null;
    if (project === null || (await projectSettings(store.db, projectId)).untrackedAt !== null) return null;
    const queue = (await queueOf(store.db, projectId)) ?? (await beginQueueOf(project));
    if (queue === null) {
      await settleTasks(platform, project, null);
      return null;
    }
    const { bench, config } = await prepare(project, queue, watch);
    if (queue.advance !== null) await finishBegun(bench, queue.advance);
    await noteSeen(bench, queue);
    await openMissing(platform, project, config);
    await settleTasks(platform, project, config);
    await examineAll({ ...bench, config });
    await crew.tick(project, config);
    await attempt(project, 'conflicts could not be foreseen', () =>
      foreseeConflicts(platform, project, bench.repository, bench.ownDir, config),
    );
    const { place: forge, asksMain } = await lookAtForge(bench, config);
    if (asksMain) watch.askedAt ??= platform.clock();
    recheck(queue, watch);
    const look = { ...bench, config, checker, forge, askedAt: watch.askedAt };
    const looked = await lookAtQueue(look);
    await settleTasks(platform, project, config);
    // A request that came during this look is for the next one.
    if (looked.isAnswered && watch.askedAt === look.askedAt) watch.askedAt = null;
    await followRemote(bench);
    await attempt(project, 'could not record whether its branch has diverged', () =>
      recordDivergence(platform, project),
    );
    if (looked.againMs === 0) watch.target = null;
    else if (await isAtRest(projectId, watch, config)) {
      watch.rest = restOf(bench.target);
      await attempt(project, 'its git directory could not be tidied', () =>
        tidyOwnDirectory(bench.repository, bench.ownDir),
      );
    }
    return looked.againMs;
  }

  /** A main that is red may have been so for reasons that have passed: it is checked again now and then. */
  function recheck({ emergency }: Queue, watch: Watch): void {
    const now = platform.clock();
    if (emergency === null) watch.recheckAt = null;
    else if (watch.recheckAt !== null && (now >= watch.recheckAt || watch.recheckAt - now > limits.recheckMs))
      watch.askedAt ??= now;
    else if (watch.recheckAt !== null) return;
    if (emergency !== null) watch.recheckAt = now + limits.recheckMs;
  }

  /** A project's queue begins when something happens in it and it says what its checks are. Others cost a look at one file. */
  async function beginQueueOf(project: Project): Promise<Queue | null> {
    return existsSync(join(project.root, configPath)) ? beginIfConfigured(platform, project) : null;
  }

  /** Does what no change has to wait for: when it fails, that is on record and nothing else. */
  async function attempt({ name }: Project, what: string, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      platform.log.warn({ project: name, error: messageOf(error) }, what);
    }
  }

  /** Where everything is for one look. The config is the one of the very commit that the target branch is at. */
  async function prepare(
    project: Project,
    queue: Queue,
    watch: Watch,
  ): Promise<{ bench: Bench & { platform: SessionPlatform }; config: ProjectConfig }> {
    const repository = await repositoryOf(platform, project);
    const ownDir = ownGitDirectory(platform.home, project.id);
    await ensureOwnDirectory(repository, ownDir);
    const { commit: guess, config: guessed } = await readLastConfig(platform, project, repository, queue);
    const target = await targetNow(watch, () => findTarget(repository, ownDir, guessed, queue.branch));
    const config = target.tip === guess ? guessed : await readProjectConfig(platform, project, repository, target.tip);
    return { bench: { platform, project, repository, ownDir, target }, config };
  }

  /** A remote is not asked for each wake anew; what it says is compared once more when its branch is moved. */
  async function targetNow(watch: Watch, find: () => Promise<Target>): Promise<Target> {
    const { target } = watch;
    const now = platform.clock();
    const isRemote = target !== null && target.found.remote !== null;
    if (isRemote && now >= target.at && now - target.at < platform.timing.queueWaitMs) return target.found;
    const found = await find();
    watch.target = { found, at: now };
    return found;
  }

  async function seeTarget(projectId: string): Promise<void> {
    const project = await projectById(store.db, projectId);
    const queue = project === null ? null : await queueOf(store.db, projectId);
    if (project === null || queue === null) return;
    const watch = watchOf(projectId);
    watch.target = null;
    const { bench } = await prepare(project, queue, watch);
    await noteSeen(bench, queue);
  }

  async function noteSeen(bench: Bench, queue: Queue): Promise<void> {
    const { project, target } = bench;
    const { branch, tip } = target;
    const now = await queueOf(store.db, project.id);
    if (now === null || (now.seen === tip && now.branch === branch)) return;
    const old = now.branch === branch ? now.seen : null;
    const hasLost = old !== null && (await isRewritten(bench, old));
    await store.write(async (tx) => {
      await updateQueue(tx, project.id, { seen: tip, branch });
      if (hasLost) await noteRewritten(tx, project.id, old);
      if (queue.seen === null) return;
      tx.emit({ type: 'main.moved', projectId: project.id, data: { branch, from: queue.seen, to: tip } });
    });
  }

  async function noteTrouble(projectId: string, reason: string, hint: string | null): Promise<void> {
    const queue = await queueOf(store.db, projectId);
    if (queue === null || queue.waiting?.reason === reason) return;
    await store.write(async (tx) => {
      await updateQueue(tx, projectId, {
        waiting: { reason, hint, changes: queue.waiting?.changes ?? [], since: tx.now },
      });
      tx.emit({ type: 'queue.waiting', projectId, data: { reason } });
    });
  }

  /** Finds what nobody told of: somebody else's push, a checkout that is clean again, an agent that has gone. */
  async function tick(): Promise<void> {
    await checker.tend();
    for (const { projectId } of await allQueues(store.db)) {
      const { rest } = watchOf(projectId);
      // Where that cannot be told, because the repository is gone perhaps, the look says so.
      if (rest === null || (await hasMoved(projectId, rest).catch(() => true))) wake(projectId);
    }
  }

  /** Nothing runs, main is green, and every open change waits for a person: there is nothing to do until something is said or pushed. */
  async function isAtRest(projectId: string, { askedAt }: Watch, config: ProjectConfig): Promise<boolean> {
    const queue = await queueOf(store.db, projectId);
    if (askedAt !== null || queue === null || queue.emergency !== null || config.forge !== 'local') return false;
    if (queue.seen !== queue.green && queue.green !== null && config.checks.length > 0) return false;
    if ((await openChecks(store.db, projectId)).length > 0 || (await countOpenSessions(store.db)) > 0) return false;
    const facts = await projectFacts(store.db, projectId, config);
    for (const change of await openChanges(store.db, projectId)) {
      if (changeState(await changeFacts(store.db, change, facts)).state !== 'ready') return false;
    }
    return true;
  }

  const restOf = ({ tip, branch, remote }: Target) => ({
    tip,
    branch,
    isRemote: remote !== null,
    at: platform.clock(),
  });

  /** A branch of the person's own is looked at each time; a remote, which costs more, now and then. */
  async function hasMoved(projectId: string, rest: NonNullable<Watch['rest']>): Promise<boolean> {
    if (rest.isRemote) return Math.abs(platform.clock() - rest.at) >= limits.remoteMs;
    const project = await projectById(store.db, projectId);
    return project !== null && (await branchTip(await repositoryOf(platform, project), rest.branch)) !== rest.tip;
  }

  return {
    async seeTarget(projectId) {
      await lanes.run(projectId, () => seeTarget(projectId));
      wake(projectId);
    },
    async checkMain(projectId) {
      watchOf(projectId).askedAt = platform.clock();
      wake(projectId);
    },
    async begin() {
      stopListening = store.onCommit(({ events }) => {
        for (const { type, projectId, agentId } of events) {
          if (projectId === null || !queueEvents.has(type)) continue;
          wake(projectId);
          if (agentId !== null) void wakeFurther(agentId);
        }
      });
      await checker.adopt();
      refresh.begin();
      ticking = setInterval(() => void tick().catch(() => undefined), platform.timing.queueMs).unref();
      for (const { id } of await listProjects(store.db)) wake(id);
    },
    async close() {
      closed = true;
      stopListening();
      if (ticking !== null) clearInterval(ticking);
      for (const { timer } of watches.values()) if (timer !== null) clearTimeout(timer);
      await refresh.close();
      await lanes.drain();
      await checker.close();
    },
  };
}
