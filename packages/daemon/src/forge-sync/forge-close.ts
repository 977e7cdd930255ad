import { cutText } from '@pawl/core/shorten';
import type { Change } from '@pawl/schema/change';
import { isPassing, messageOf, PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { readFile } from 'node:fs/promises';
import type { ForgeContext } from './forge-context.ts';
import { forgeMemoryOf, rememberOnForge } from './forge-memory.ts';
import { learningsOf } from '../changes/learnings.ts';

/** Closes on the forge the changes that were closed here. Their learnings become an issue there, once. */
export async function closeOnForge(context: ForgeContext, recent: readonly Change[]): Promise<void> {
  const { db } = context.platform.store;
  for (const change of recent) {
    if (change.closedAt === null || change.forgeRef === null) continue;
    if ((await forgeMemoryOf(db, change.id)).isClosed) continue;
    try {
      await closeOne(context, change, change.forgeRef);
    } catch (error) {
      if (!(error instanceof PawlError) || isPassing(error) || error.code === 'unauthorized') throw error;
      context.platform.log.info({ change: change.id, why: messageOf(error) }, 'failed to close a change on the forge');
    }
  }
}

async function closeOne({ platform, project, link }: ForgeContext, change: Change, ref: string): Promise<void> {
  const { forge } = link;
  const path = learningsOf(platform.home, project, change);
  const issue = path === null ? null : await openLesson(path);
  if ((await forge.view(ref)).state === 'open') {
    const words = [`Closed: ${change.closeReason ?? 'no agent continues it'}`, issue === null ? '' : `See ${issue}`];
    await forge.comment(ref, words.join('\n\n').trim(), `close-${change.id}`);
    await forge.close(ref);
  }
  await platform.store.write((tx) => rememberOnForge(tx, change.id, { isClosed: true }));

  async function openLesson(file: string): Promise<string> {
    const body = cutText(await readFile(file, 'utf8'), limits.forgeTextCharacters);
    return forge.openIssue({ title: `Learned from: ${change.title}`, body, key: `learned-${change.id}` });
  }
}
