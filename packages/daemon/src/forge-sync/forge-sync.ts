import type { ForgeChange } from '@pawl/core/port/forge';
import type { MainOnForge } from '@pawl/core/queue/forge-plan';
import { holdOnForge, marksOnForge } from '@pawl/core/queue/forge-plan';
import { mayPush } from '@pawl/core/changes/merge-leave';
import type { Change } from '@pawl/schema/change';
import { isPassing, messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { changeById, commentsOf, listChanges, openChanges } from '@pawl/store/changes/changes';
import { projectSettings } from '@pawl/store/projects/project-settings';
import type { ForgeContext } from './forge-context.ts';
import { forgeRulesOf } from './forge-context.ts';
import { closeOnForge } from './forge-close.ts';
import { followThere, importChange } from './forge-import.ts';
import { forgeMemoryOf, forgeFacts, rememberOnForge } from './forge-memory.ts';
import { followHere, openOnForge } from './forge-push.ts';
import { holdForForge, settleFromForge } from './forge-settle.ts';

/**
 * Syncs changes with the forge: opens local ones there, imports marked ones from there, and propagates outcomes both
 * ways. Every step may be repeated, so a sync may be interrupted anywhere. False if the last sync was too recent, since
 * each counts against the forge's rate limits.
 */
export async function syncForge(context: ForgeContext): Promise<boolean> {
  const { platform, link } = context;
  const now = platform.clock();
  if (now < link.nextAt && link.nextAt - now <= limits.forgeRetryMs) return false;
  link.nextAt = now + limits.forgeRetryMs;
  const listed = await link.forge.list();
  const byRef = new Map(listed.map((there) => [there.ref, there]));
  let opened = 0;
  for (const change of await openChanges(platform.store.db, context.project.id)) {
    if (change.forgeRef === null && (opened += 1) > limits.forgeOpens) continue;
    await attempt(context, change, () => syncOne(context, change, byRef));
  }
  const recent = await listChanges(platform.store.db, { projectId: context.project.id, limit: limits.forgeClosed });
  if (link.mayMerge) for (const there of listed) await takeOver(context, there, recent);
  await closeOnForge(context, recent);
  const { tip } = context.target;
  link.main = { tip, since: link.main?.tip === tip ? link.main.since : now, checks: await checksOfMain(context) };
  link.nextAt = now + limits.forgeMs;
  return true;
}

/** The result of the forge's own CI for main, if it has one. */
async function checksOfMain({ link, target }: ForgeContext): Promise<MainOnForge['checks']> {
  try {
    return await link.forge.branchChecks(target.branch);
  } catch (error) {
    if (error instanceof PawlError && ['not_found', 'forbidden'].includes(error.code)) return null;
    throw error;
  }
}

/** A problem with one change holds that change; a problem with the forge ends the sync. */
async function attempt(context: ForgeContext, change: Change, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof PawlError) || isPassing(error) || error.code === 'unauthorized') throw error;
    context.platform.log.warn({ change: change.id, why: messageOf(error) }, 'failed to sync a change to the forge');
    await holdForForge(context, change, messageOf(error));
  }
}

async function syncOne(context: ForgeContext, change: Change, byRef: Map<string, ForgeChange>): Promise<void> {
  const { platform, link } = context;
  const memory = await forgeMemoryOf(platform.store.db, change.id);
  const { pushAllowedAt } = await projectSettings(platform.store.db, change.projectId);
  const isPushable = mayPush(change, pushAllowedAt !== null);
  if (change.forgeRef === null) {
    if (!isPushable) return leaveHere(context, change);
    const opened = await openOnForge(context, change, memory);
    if (opened === null) await holdForForge(context, change, 'its branch cannot be pushed there');
    else await judge(context, change, opened);
    return;
  }
  // A change that was just opened or has ended is not in the list.
  const there = byRef.get(change.forgeRef) ?? (await link.forge.view(change.forgeRef));
  if (await settleFromForge(context, change, there)) return;
  if (memory.isFound) await followThere(context, change, there);
  else if (there.head !== change.head && !isPushable) return leaveHere(context, change);
  const isPushed = (await followHere(context, { change, there, memory })) !== there.head;
  const now = await changeById(platform.store.db, change.id);
  if (now === null) return;
  await sayOnForge(context, now, there.ref);
  // The listed checks and reviews are of the previous head.
  if (isPushed) await holdForForge(context, now, 'its checks have not started there');
  else await judge(context, now, await markOnForge(context, now, there));
}

/** Without a person's permission nothing is pushed. The change is checked here, and its state says what is missing. */
async function leaveHere(context: ForgeContext, change: Change): Promise<void> {
  await holdForForge(context, change, null);
}

async function judge(context: ForgeContext, change: Change, there: ForgeChange): Promise<void> {
  const facts = await forgeFacts(context.platform.store.db, change, there);
  await holdForForge(context, change, holdOnForge(facts, forgeRulesOf(context)));
}

/** Sets draft state and labels on the forge; returns the change as it is then. */
async function markOnForge({ platform, link }: ForgeContext, change: Change, there: ForgeChange): Promise<ForgeChange> {
  const facts = await forgeFacts(platform.store.db, change, there);
  const { memory: before } = facts;
  const { marks, memory } = marksOnForge(facts);
  if (marks.ready || marks.add.length + marks.remove.length > 0) await link.forge.mark(there.ref, marks);
  const { isFlagged, isReady } = memory;
  if (isFlagged !== before.isFlagged || isReady !== before.isReady) {
    await platform.store.write((tx) => rememberOnForge(tx, change.id, { isFlagged, isReady }));
  }
  return { ...there, draft: there.draft && !marks.ready };
}

/** Posts local comments on the forge, each once. */
async function sayOnForge({ platform, link }: ForgeContext, change: Change, ref: string): Promise<void> {
  const { lastComment } = await forgeMemoryOf(platform.store.db, change.id);
  const comments = await commentsOf(platform.store.db, change.id);
  const begin = comments.findIndex(({ id }) => id === lastComment) + 1;
  for (const { id, kind, body } of comments.slice(begin, begin + limits.forgeComments)) {
    const isMarked = /^\s*\[blocking\]/i.test(body);
    await link.forge.comment(ref, kind === 'blocking' && !isMarked ? `[BLOCKING] ${body}` : body, `comment-${id}`);
    await platform.store.write((tx) => rememberOnForge(tx, change.id, { lastComment: id }));
  }
}

/** Imports a marked change from the forge; one that we have closed there returns if someone reopens it. */
async function takeOver(context: ForgeContext, there: ForgeChange, recent: readonly Change[]): Promise<void> {
  const { db } = context.platform.store;
  for (const change of recent) {
    if (change.forgeRef !== there.ref) continue;
    const isOver = change.mergedAt !== null || change.closedAt !== null;
    if (!isOver || !(await forgeMemoryOf(db, change.id)).isClosed) return;
  }
  await importChange(context, there);
}
