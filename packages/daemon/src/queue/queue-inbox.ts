import { changeNews, configNews, queueNews, withheldNews } from '@pawl/core/questions/inbox';
import { divergedNews } from '@pawl/core/changes/diverged';
import type { ChangeView } from '@pawl/protocol/changes/view';
import type { InboxEmergency, InboxEntry } from '@pawl/protocol/questions/view';
import type { Change, Queue } from '@pawl/schema/change';
import type { Project } from '@pawl/schema/record';
import { agentView } from '@pawl/store/agents/agent-views';
import { openChanges } from '@pawl/store/changes/changes';
import { checkById } from '@pawl/store/changes/checks';
import { projectSettings } from '@pawl/store/projects/project-settings';
import { listProjects } from '@pawl/store/projects/projects';
import { queueOf } from '@pawl/store/changes/queues';
import type { Database } from '@pawl/store/tables';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { named, viewFactsOf, viewChange } from '../changes/change-view.ts';
import { configTrouble } from '../project-config/project-rules.ts';
import { rulesFrom } from '../changes/facts.ts';
import { divergenceOf } from './divergence.ts';
import { projectsWithQueue } from './queue-view.ts';
import { unproposed } from '../project-config/withheld.ts';

export type QueueInbox = { entries: InboxEntry[]; changes: ChangeView[]; emergencies: InboxEmergency[] };

export async function queueInbox(platform: DefinitionPlatform): Promise<QueueInbox> {
  const inbox: QueueInbox = { entries: [], changes: [], emergencies: [] };
  for (const project of await projectsWithQueue(platform)) {
    const queue = await queueOf(platform.store.db, project.id);
    if (queue !== null) await addProject(platform, project, queue, inbox);
  }
  inbox.entries.push(...(await brokenBeforeQueue(platform)));
  return inbox;
}

/** Projects whose queue cannot start, because their configuration cannot be read. */
async function brokenBeforeQueue(platform: DefinitionPlatform): Promise<InboxEntry[]> {
  const { db } = platform.store;
  const entries: InboxEntry[] = [];
  for (const project of await listProjects(db)) {
    const { id, name: alias, createdAt: since } = project;
    if ((await queueOf(db, id)) !== null || (await projectSettings(db, id)).untrackedAt !== null) continue;
    const trouble = await configTrouble(platform, project);
    if (trouble === null) continue;
    const news = configNews(trouble, { branch: 'the target branch', since, queued: [] });
    entries.push({ id, agent: null, project: { id, alias }, changes: [], ...news });
  }
  return entries;
}

async function addProject(
  platform: DefinitionPlatform,
  project: Project,
  queue: Queue,
  inbox: QueueInbox,
): Promise<void> {
  const { db } = platform.store;
  const place = { id: project.id, alias: project.name };
  const open = await openChanges(db, project.id);
  const viewFacts = open.length === 0 ? null : await viewFactsOf(platform, project);
  for (const change of viewFacts === null ? [] : open) {
    const view = viewFacts === null ? null : await viewChange(db, change, viewFacts);
    if (view === null) continue;
    if (view.needsPerson) inbox.changes.push(view);
    const rules = viewFacts?.facts ? rulesFrom(viewFacts.facts) : null;
    const news = changeNews({ ...view, change, isInHand: await isInHand(db, change), rules });
    const about = { id: change.id, agent: view.author, project: place, changes: [change.id] };
    if (news !== null) inbox.entries.push({ ...about, ...news });
  }
  const emergency = await emergencyOf(db, project, queue);
  if (emergency !== null) inbox.emergencies.push(emergency);
  const queued = open.filter(({ queuedAt }) => queuedAt !== null);
  queued.sort((a, b) => (a.queuedAt ?? 0) - (b.queuedAt ?? 0));
  const failure = {
    detail: emergency?.detail ?? '',
    fixer: emergency?.fixer?.alias ?? null,
    trouble: emergency?.trouble ?? null,
  };
  const trouble = viewFacts?.trouble ?? (await configTrouble(platform, project));
  for (const news of queueNews({ queue, trouble, queued, failure }))
    inbox.entries.push({ id: project.id, agent: null, project: place, ...news });
  for (const work of await unproposed(platform, project)) {
    const about = { id: work.agentId, agent: await named(db, work.agentId), project: place, changes: [] };
    inbox.entries.push({ ...about, ...withheldNews(work, queue.branch) });
  }
  const divergence = await divergenceOf(platform, project);
  if (divergence === null) return;
  const since = queue.divergedAt ?? platform.clock();
  const news = { kind: 'diverged' as const, since, ...divergedNews(divergence), detail: '', changes: [] };
  inbox.entries.push({ id: project.id, agent: null, project: place, ...news });
}

async function emergencyOf(db: Database, project: Project, queue: Queue): Promise<InboxEmergency | null> {
  if (queue.emergency === null) return null;
  const { commit, checkId, since, fixerId, trouble } = queue.emergency;
  const check = await checkById(db, checkId);
  const about = {
    project: { id: project.id, alias: project.name },
    branch: queue.branch,
    commit,
    checkId,
    since,
    trouble,
  };
  return { ...about, fixer: await named(db, fixerId), detail: check?.detail ?? '' };
}

/** True if the author of a change, or its stand-in, is working. */
async function isInHand(db: Database, { agentId, standInId }: Change): Promise<boolean> {
  for (const id of [agentId, standInId]) {
    const view = id === null ? null : await agentView(db, id);
    if (view !== null && view.agent.endedAt === null && view.run?.outcome === null) return true;
  }
  return false;
}

/** Sorts inbox entries for display. */
export function inOrder(entries: readonly InboxEntry[]): InboxEntry[] {
  const rank = ({ kind }: InboxEntry) => (kind === 'emergency' ? 0 : 1);
  return entries.toSorted((a, b) => rank(a) - rank(b) || a.since - b.since);
}
