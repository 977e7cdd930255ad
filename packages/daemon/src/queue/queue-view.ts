import { divergedNews } from '@pawl/core/changes/diverged';
import { queueAdvice } from '@pawl/core/changes/merge-leave';
import type { QueueView } from '@pawl/protocol/queue/view';
import type { ProjectConfig } from '@pawl/schema/project-config';
import { limits } from '@pawl/schema/limit';
import type { Project } from '@pawl/schema/record';
import { openChanges } from '@pawl/store/changes/changes';
import { openChecks, recentChecks } from '@pawl/store/changes/checks';
import { projectSettings } from '@pawl/store/projects/project-settings';
import { projectById } from '@pawl/store/projects/projects';
import { allQueues, queueOf } from '@pawl/store/changes/queues';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { rulesOf } from '../project-config/project-rules.ts';
import { named, viewFactsOf, viewChange } from '../changes/change-view.ts';
import { viewCheck } from '../checks/check-view.ts';
import { divergenceOf } from './divergence.ts';
import { localBranch } from '../changes/landing/local-branch.ts';
import { rulesFrom } from '../changes/facts.ts';

/** The merge queue of a project as it is now, even before it has started. */
export async function viewQueue(platform: DefinitionPlatform, project: Project): Promise<QueueView> {
  const { db } = platform.store;
  const queue = await queueOf(db, project.id);
  const viewFacts = await viewFactsOf(platform, project);
  const { facts, trouble } = viewFacts;
  // A started queue knows its branch; before that, look it up.
  const seen = queue?.seen ?? null;
  const rules = seen === null ? (await rulesOf(platform, project)).found : null;
  const emergency = queue?.emergency ?? null;
  const queued = (await openChanges(db, project.id))
    .filter(({ queuedAt }) => queuedAt !== null)
    .toSorted((a, b) => (a.queuedAt ?? 0) - (b.queuedAt ?? 0));
  const changes: QueueView['changes'] = [];
  for (const change of queued) changes.push(await viewChange(db, change, viewFacts));
  const ended = (await recentChecks(db, project.id, limits.queueChecks)).filter(({ endedAt }) => endedAt !== null);
  return {
    project: { id: project.id, name: project.name },
    branch: rules?.branch ?? queue?.branch ?? '',
    main: seen ?? rules?.tips[0] ?? null,
    green: queue?.green ?? null,
    counts: queue?.counts ?? null,
    emergency: emergency === null ? null : { ...emergency, fixer: await named(db, emergency.fixerId) },
    pausedAt: queue?.pausedAt ?? null,
    waiting: queue?.waiting ?? null,
    advice: facts === null ? [] : [...queueAdvice(rulesFrom(facts)), ...(await localAdvice(platform, project, seen))],
    pushAllowedAt: (await projectSettings(db, project.id)).pushAllowedAt,
    trouble,
    changes,
    running: (await openChecks(db, project.id)).map(viewCheck),
    checks: ended.map(viewCheck),
    rounds: ended.filter(({ outcome }) => outcome === 'passed' || outcome === 'failed').length,
    config: facts === null ? unknownRules : summaryOf(facts.config),
  };
}

/** Advice about a local target branch that differs from the remote's at `seen`. */
async function localAdvice(platform: DefinitionPlatform, project: Project, seen: string | null): Promise<string[]> {
  const divergence = await divergenceOf(platform, project);
  if (divergence !== null) {
    const { text, next } = divergedNews(divergence);
    return [`${text}: ${next.map((command) => `\`${command}\``).join(', ')}`];
  }
  const local = seen === null ? null : await localBranch(platform, project, seen);
  return local?.state === 'behind' ? [`local ${local.branch} is behind the remote’s: ${local.reason}`] : [];
}

function summaryOf(config: ProjectConfig): QueueView['config'] {
  const { enabled, method, batch, parallel, remote, auto, forge, source } = config;
  return {
    enabled,
    checks: config.checks.map(({ name }) => name),
    method,
    batch,
    parallel,
    remote,
    auto,
    forge,
    review: config.review?.definition ?? null,
    guard: config.guard.enabled,
    source,
  };
}

/** Shown for rules that cannot be read: nothing is merged. */
const unknownRules: QueueView['config'] = {
  enabled: false,
  checks: [],
  method: 'squash',
  batch: limits.batchChanges,
  parallel: null,
  remote: null,
  auto: false,
  forge: 'local',
  review: null,
  guard: true,
  source: 'none',
};

export async function projectsWithQueue(platform: DefinitionPlatform): Promise<Project[]> {
  const { db } = platform.store;
  const found = await Promise.all((await allQueues(db)).map(({ projectId }) => projectById(db, projectId)));
  return found.filter((project) => project !== null).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
