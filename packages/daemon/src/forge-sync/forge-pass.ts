import { isRedOnForge, keepsAlarm } from '@pawl/core/queue/forge-plan';
import { PawlError } from '@pawl/schema/error';
import type { ProjectConfig } from '@pawl/schema/project-config';
import { queueOf } from '@pawl/store/changes/queues';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { LandingContext } from '../changes/landing/advance.ts';
import { forgetAdvance } from '../changes/landing/advance.ts';
import type { MergePlace } from './forge.ts';
import { forgeFor } from './forge.ts';
import { finishOnForge } from './forge-advance.ts';
import { alarmOf, isUnanswered, mainOnForge, noteRedThere } from './forge-alarm.ts';
import type { ForgeContext } from './forge-context.ts';
import { syncForge } from './forge-sync.ts';
import { forgeTroubleOf, noteForgeTrouble } from './forge-trouble.ts';

/** The result of a sync with a project's forge. */
export type ForgePass = {
  place: MergePlace;
  /** Main was red there and no longer is: our own checks must confirm it. */
  asksMain: boolean;
};

/** Syncs with the forge of a project that has one. An unreachable forge stops merging, and nothing else. */
export async function passForge(
  context: LandingContext & { platform: SessionPlatform },
  config: ProjectConfig,
): Promise<ForgePass> {
  const { platform, project, repository } = context;
  const trouble = config.forge === 'local' ? null : forgeTroubleOf(platform, project.id);
  if (trouble !== null) return unreachable(context, config.forge, trouble);
  try {
    const link = await forgeFor(platform, project, repository, config);
    if (link !== null) return await passReachableForge({ ...context, config, link });
    await dropForeign(context);
    return { place: null, asksMain: false };
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    platform.log.warn({ project: project.name, why: error.message }, 'the forge is unreachable');
    noteForgeTrouble(platform, project.id, error.message);
    return unreachable(context, config.forge, error.message);
  }
}

/** Syncs with a reachable forge. */
export async function passReachableForge(context: ForgeContext): Promise<ForgePass> {
  const { platform, link, target } = context;
  // First, so that nothing already merged is treated as open.
  await finishOnForge(context);
  const isSynced = await syncForge(context);
  const main = mainOnForge(link, target.tip, platform.clock());
  if (isSynced && main !== null && isRedOnForge(main)) await noteRedThere(context);
  const alarm = await alarmOf(context);
  const isKept = keepsAlarm(main, { isTheirs: alarm?.isTheirs ?? false, now: platform.clock() });
  const isOver = isSynced && !isKept && alarm !== null && alarm.isTheirs && alarm.commit === target.tip;
  return {
    place: { is: 'there', link, keepsAlarm: isKept },
    asksMain: isOver && (await isUnanswered(context)),
  };
}

async function unreachable(context: LandingContext, name: string, reason: string): Promise<ForgePass> {
  const alarm = await alarmOf(context);
  return {
    place: { is: 'unreachable', name, reason, keepsAlarm: alarm?.isTheirs ?? false },
    asksMain: false,
  };
}

/** A merge that was started on a forge which the project no longer has can only be found on main. */
async function dropForeign(context: LandingContext): Promise<void> {
  const begun = (await queueOf(context.platform.store.db, context.project.id))?.advance ?? null;
  if (begun !== null && begun.forgeRef !== null) await forgetAdvance(context);
}
