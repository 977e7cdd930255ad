import type { ForgeChange } from '@pawl/core/port/forge';
import type { MainOnForge } from '@pawl/core/queue/forge-plan';
import { holdOnForge, marksOnForge } from '@pawl/core/queue/forge-plan';
import { mayPush } from '@pawl/core/changes/merge-leave';
import type { Change } from '@pawl/schema/change';
import { isPassing, messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { changeById, commentsOf, listChanges, openChanges } from '@pawl/store/changes/changes';
import { projectSettings } from '@pawl/store/projects/project-settings';
import type { ForgeBench } from './forge-bench.ts';
import { sceneOf } from './forge-bench.ts';
import { closeOnForge } from './forge-close.ts';
import { followThere, importChange } from './forge-import.ts';
import { forgeMemoryOf, forgeSight, rememberOnForge } from './forge-memory.ts';
import { followHere, openOnForge } from './forge-push.ts';
import { holdForForge, settleFromForge } from './forge-settle.ts';

/**
 * Brings changes here and on the forge together: what is open here is opened there, what is marked as ours there becomes a
 * change here, and what comes of either is told to the other. Every step may be repeated, so a look may be cut short
 * anywhere. Returns false when the last look was a moment ago: each look counts against the forge's limits.
 */
export async function syncForge(bench: ForgeBench): Promise<boolean> {
  const { platform, link } = bench;
  const now = platform.clock();
  if (now < link.nextAt && link.nextAt - now <= limits.forgeRetryMs) return false;
  link.nextAt = now + limits.forgeRetryMs;
  const listed = await link.forge.list();
  const byRef = new Map(listed.map((there) => [there.ref, there]));
  let opened = 0;
  for (const change of await openChanges(platform.store.db, bench.project.id)) {
    if (change.forgeRef === null && (opened += 1) > limits.forgeOpens) continue;
    await attempt(bench, change, () => syncOne(bench, change, byRef));
  }
  const recent = await listChanges(platform.store.db, { projectId: bench.project.id, limit: limits.forgeClosed });
  if (link.mayMerge) for (const there of listed) await takeOver(bench, there, recent);
  await closeOnForge(bench, recent);
  const { tip } = bench.target;
  link.main = { tip, since: link.main?.tip === tip ? link.main.since : now, checks: await checksOfMain(bench) };
  link.nextAt = now + limits.forgeMs;
  return true;
}

/** What the forge's own CI says of main. A repository without one has none. */
async function checksOfMain({ link, target }: ForgeBench): Promise<MainOnForge['checks']> {
  try {
    return await link.forge.branchChecks(target.branch);
  } catch (error) {
    if (error instanceof PawlError && ['not_found', 'forbidden'].includes(error.code)) return null;
    throw error;
  }
}

/** What goes wrong with one change holds that one; what goes wrong with the forge ends the look. */
async function attempt(bench: ForgeBench, change: Change, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof PawlError) || isPassing(error) || error.code === 'unauthorized') throw error;
    bench.platform.log.warn({ change: change.id, why: messageOf(error) }, 'a change cannot be brought to the forge');
    await holdForForge(bench, change, messageOf(error));
  }
}

async function syncOne(bench: ForgeBench, change: Change, byRef: Map<string, ForgeChange>): Promise<void> {
  const { platform, link } = bench;
  const memory = await forgeMemoryOf(platform.store.db, change.id);
  const { pushAllowedAt } = await projectSettings(platform.store.db, change.projectId);
  const isPushable = mayPush(change, pushAllowedAt !== null);
  if (change.forgeRef === null) {
    if (!isPushable) return leaveHere(bench, change);
    const opened = await openOnForge(bench, change, memory);
    if (opened === null) await holdForForge(bench, change, 'there is no place there for its branch');
    else await judge(bench, change, opened);
    return;
  }
  // One that was just opened is not in the list yet, and one that has ended is not in it any more.
  const there = byRef.get(change.forgeRef) ?? (await link.forge.view(change.forgeRef));
  if (await settleFromForge(bench, change, there)) return;
  if (memory.isFound) await followThere(bench, change, there);
  else if (there.head !== change.head && !isPushable) return leaveHere(bench, change);
  const isPushed = (await followHere(bench, { change, there, memory })) !== there.head;
  const now = await changeById(platform.store.db, change.id);
  if (now === null) return;
  await sayOnForge(bench, now, there.ref);
  // What was listed of checks and reviews is about the head that was there before.
  if (isPushed) await holdForForge(bench, now, 'its checks have not begun there');
  else await judge(bench, now, await markOnForge(bench, now, there));
}

/** Without a person's word nothing is sent there. The change is checked here, and its state says what is missing. */
async function leaveHere(bench: ForgeBench, change: Change): Promise<void> {
  await holdForForge(bench, change, null);
}

async function judge(bench: ForgeBench, change: Change, there: ForgeChange): Promise<void> {
  const sight = await forgeSight(bench.platform.store.db, change, there);
  await holdForForge(bench, change, holdOnForge(sight, sceneOf(bench)));
}

/** Marks a change there as it is here, and returns it as it is then. */
async function markOnForge({ platform, link }: ForgeBench, change: Change, there: ForgeChange): Promise<ForgeChange> {
  const sight = await forgeSight(platform.store.db, change, there);
  const { memory: before } = sight;
  const { marks, memory } = marksOnForge(sight);
  if (marks.ready || marks.add.length + marks.remove.length > 0) await link.forge.mark(there.ref, marks);
  const { isFlagged, isReady } = memory;
  if (isFlagged !== before.isFlagged || isReady !== before.isReady) {
    await platform.store.write((tx) => rememberOnForge(tx, change.id, { isFlagged, isReady }));
  }
  return { ...there, draft: there.draft && !marks.ready };
}

/** Says there what was said here about a change, each comment once. */
async function sayOnForge({ platform, link }: ForgeBench, change: Change, ref: string): Promise<void> {
  const { lastComment } = await forgeMemoryOf(platform.store.db, change.id);
  const comments = await commentsOf(platform.store.db, change.id);
  const begin = comments.findIndex(({ id }) => id === lastComment) + 1;
  for (const { id, kind, body } of comments.slice(begin, begin + limits.forgeComments)) {
    const isMarked = /^\s*\[blocking\]/i.test(body);
    await link.forge.comment(ref, kind === 'blocking' && !isMarked ? `[BLOCKING] ${body}` : body, `comment-${id}`);
    await platform.store.write((tx) => rememberOnForge(tx, change.id, { lastComment: id }));
  }
}

/** Makes a change of what is marked as ours on the forge; one that we have closed there comes back when somebody reopens it. */
async function takeOver(bench: ForgeBench, there: ForgeChange, recent: readonly Change[]): Promise<void> {
  const { db } = bench.platform.store;
  for (const change of recent) {
    if (change.forgeRef !== there.ref) continue;
    const isOver = change.mergedAt !== null || change.closedAt !== null;
    if (!isOver || !(await forgeMemoryOf(db, change.id)).isClosed) return;
  }
  await importChange(bench, there);
}
