import { meets } from '@pawl/core/definitions/gate';
import { changeRoutes } from '@pawl/protocol/changes/routes';
import { isAuthor } from '@pawl/core/agents/landing';
import { isOver } from '@pawl/core/changes/change-life';
import { summaryFrom } from '@pawl/core/changes/change-text';
import { branchTips } from '@pawl/git/repository/branch-tips';
import { isAncestor } from '@pawl/git/merge/merge-step';
import { defaultBranch } from '@pawl/git/repository/remote';
import type { Change, Queue } from '@pawl/schema/change';
import { messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Agent, Project } from '@pawl/schema/record';
import type { AgentFacts } from '@pawl/schema/agent/agent-facts';
import { agentView } from '@pawl/store/agents/agent-views';
import { planBranchOf } from '@pawl/store/plan/initiatives';
import { changesTakenOver, finishedAuthors } from '@pawl/store/changes/change-search';
import { changesByAgent } from '@pawl/store/changes/changes';
import { beginQueue, queueOf } from '@pawl/store/changes/queues';
import { projectSettings } from '@pawl/store/projects/project-settings';
import { runsOf } from '@pawl/store/sessions/runs';
import { rightsOf } from '../definitions/home-definitions.ts';
import { redact } from '../accounts/redaction.ts';
import { agentIn } from '../platform/places.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import { ownGitDirectory, repositoryOf } from '../platform/platform.ts';
import { openChange } from './change-open.ts';
import { configOf, configTrouble, rulesOf } from '../project-config/project-rules.ts';
import { settledRuns } from './settled.ts';
import { recordWithheld } from '../project-config/withheld.ts';

/**
 * Proposes the work of an agent that completes, before the completion is recorded, so that its notices can name the
 * change. `openMissing` catches up on failures; null if there is nothing to propose.
 */
export async function openAtCompletion(
  platform: SessionPlatform,
  project: Project,
  facts: AgentFacts,
  summary: string | null,
): Promise<Change | null> {
  if (!isAuthor(facts.agent)) return null;
  const { found } = await configOf(platform, project);
  if (found === null || found.source === 'none') return null;
  const tips = await branchTips(await repositoryOf(platform, project), [facts.agent.branch ?? '']);
  try {
    return await proposeWork(platform, project, facts, { tip: tips.get(facts.agent.branch ?? ''), summary });
  } catch (error) {
    // A failure must not block the completion, since it can be made up for later.
    platform.log.info({ agent: facts.agent.alias, why: messageOf(error) }, 'failed to propose the branch; will retry');
    return null;
  }
}

/**
 * Proposes finished work that has no change yet: after an interrupted completion, or a run that just ended. Only work
 * finished since the queue started counts, so that configuring checks merges nothing old.
 */
export async function openMissing(platform: SessionPlatform, project: Project, config: ProjectConfig): Promise<void> {
  if (config.source === 'none') return;
  const queue = await queueOf(platform.store.db, project.id);
  if (queue === null) return;
  // The first event in a project starts the queue, and that may be the end of a run.
  const since = queue.beganAt - limits.finishedMs;
  const finished = await finishedAuthors(platform.store.db, project.id, since);
  const settled = settledRuns(platform, project.id);
  const unseen = finished.filter(({ runId }) => !settled.has(runId));
  if (unseen.length === 0) return;
  const views = await Promise.all(unseen.map(({ agentId }) => viewIn(platform, agentId, project)));
  // An agent that reported failure has nothing to propose, however its run ended.
  const authors = views.filter((view) => view !== null).filter(({ agent }) => !agent.completion?.failure);
  const branches = authors.map(({ agent }) => agent.branch ?? '');
  const tips = await branchTips(await repositoryOf(platform, project), branches);
  for (const facts of authors) {
    const work = { tip: tips.get(facts.agent.branch ?? ''), summary: facts.run?.detail ?? null };
    const isDone = await isSettled(platform, facts.agent, () => proposeWork(platform, project, facts, work));
    if (isDone && facts.run !== null) settled.add(facts.run.id);
  }
}

/** Proposes finished work of a project without waiting for the next queue pass, which retries failures. */
export async function openFinished(platform: SessionPlatform, project: Project): Promise<void> {
  if ((await projectSettings(platform.store.db, project.id)).untrackedAt !== null) return;
  if ((await queueOf(platform.store.db, project.id)) === null && (await beginIfConfigured(platform, project)) === null)
    return;
  const { found } = await configOf(platform, project);
  if (found !== null) await openMissing(platform, project, found);
}

/** An agent as seen from one of its projects. */
async function viewIn(platform: SessionPlatform, agentId: string, project: Project): Promise<AgentFacts | null> {
  const view = await agentView(platform.store.db, agentId);
  const agent = view === null ? null : await agentIn(platform.store.db, view.agent, project.id);
  return view === null || agent === null ? null : { ...view, agent };
}

/** Proposes work, and returns whether it is settled. A failure does not block others. */
async function isSettled(platform: SessionPlatform, agent: Agent, propose: () => Promise<unknown>): Promise<boolean> {
  try {
    await propose();
    return true;
  } catch (error) {
    const isFinal = isRefusal(error);
    platform.log[isFinal ? 'info' : 'warn'](
      { agent: agent.alias, why: messageOf(error) },
      'the branch was not proposed',
    );
    return isFinal;
  }
}

/**
 * Starts the queue of a project with configured checks, so that work finished from now on is proposed. An unreadable
 * configuration starts it too: work finished meanwhile is proposed once it is fixed.
 */
export async function beginIfConfigured(platform: SessionPlatform, project: Project): Promise<Queue | null> {
  const { found } = await rulesOf(platform, project);
  if (found?.config.source === 'none') return null;
  if (found === null && (await configTrouble(platform, project)) === null) return null;
  const branch = found?.branch ?? (await defaultBranch(await repositoryOf(platform, project)));
  await platform.store.write((tx) => beginQueue(tx, project.id, branch));
  return queueOf(platform.store.db, project.id);
}

async function proposeWork(
  platform: SessionPlatform,
  project: Project,
  facts: AgentFacts,
  { tip, summary }: { tip: string | undefined; summary: string | null },
): Promise<Change | null> {
  const { agent, run } = facts;
  // Without commits of its own there is nothing to propose, even if the branch has the base.
  if (tip === undefined || tip === agent.baseCommit) return null;
  // The branch of its plan collects it, and lands as a whole.
  if ((await planBranchOf(platform.store.db, agent.taskId)) !== null) return null;
  const changes = (await changesByAgent(platform.store.db, agent.id)).filter(
    ({ projectId }) => projectId === project.id,
  );
  const known = changes.find(({ head }) => head === tip);
  if (known !== undefined) return isOver(known) ? null : known;
  // Do not reopen a change that was closed after the run ended just because its branch has moved since.
  const closedAt = changes[0]?.mergedAt === null ? changes[0].closedAt : null;
  if ((closedAt ?? 0) > (run?.endedAt ?? Infinity)) return null;
  if (changes.length === 0 && (await isTakenOver(platform, project, tip))) return null;
  const { definition } = await rightsOf(platform, agent);
  if (!meets(definition, changeRoutes.openChange.access.needs)) {
    await recordWithheld(platform, project, agent, { head: tip, definition });
    return null;
  }
  const said = summaryFrom(redact(platform, summary ?? ''));
  const asker = { is: 'agent', agent, definition } as const;
  // An explicit proposal reopens a closed change.
  const replaces = (await runsOf(platform.store.db, agent.id)).map(({ detail }) =>
    summaryFrom(redact(platform, detail ?? '')),
  );
  const byItself = {
    asker,
    project,
    byItself: true,
    finishedAt: run?.endedAt ?? null,
    draft: closedAt !== null,
    replaces,
  };
  const { change } = await openChange(platform, said === '' ? byItself : { ...byItself, summary: said });
  return change;
}

/** True if a stand-in continued this work, which then belongs to it. */
async function isTakenOver(platform: SessionPlatform, project: Project, tip: string): Promise<boolean> {
  const repository = await repositoryOf(platform, project);
  for (const { head } of await changesTakenOver(platform.store.db, project.id))
    if (await isAncestor(repository, ownGitDirectory(platform.home, project.id), tip, head)) return true;
  return false;
}

/** True for errors caused by the branch itself, which are permanent; others are worth a retry. */
function isRefusal(error: unknown): boolean {
  return error instanceof PawlError && ['conflict', 'forbidden', 'invalid_input', 'not_found'].includes(error.code);
}
