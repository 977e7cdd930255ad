import { isRedOnForge, keepsAlarm } from '@pawl/core/queue/forge-plan';
import { PawlError } from '@pawl/schema/error';
import type { ProjectConfig } from '@pawl/schema/project-config';
import { queueOf } from '@pawl/store/changes/queues';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { Bench } from '../changes/landing/advance.ts';
import { forgetAdvance } from '../changes/landing/advance.ts';
import type { MergePlace } from './forge.ts';
import { forgeFor } from './forge.ts';
import { finishOnForge } from './forge-advance.ts';
import { alarmOf, isUnanswered, mainOnForge, noteRedThere } from './forge-alarm.ts';
import type { ForgeBench } from './forge-bench.ts';
import { syncForge } from './forge-sync.ts';
import { forgeTroubleOf, noteForgeTrouble } from './forge-trouble.ts';

/** What came of a look at a project's forge. */
export type ForgeLook = {
  place: MergePlace;
  /** Main was red there and is not any more: our own checks have to say whether that is so. */
  asksMain: boolean;
};

/**
 * Looks at the forge of a project that has one, and brings together what is there and here. One that cannot be reached stops
 * the merging, and nothing else.
 */
export async function lookAtForge(
  bench: Bench & { platform: SessionPlatform },
  config: ProjectConfig,
): Promise<ForgeLook> {
  const { platform, project, repository } = bench;
  const trouble = config.forge === 'local' ? null : forgeTroubleOf(platform, project.id);
  if (trouble !== null) return unreachable(bench, config.forge, trouble);
  try {
    const link = await forgeFor(platform, project, repository, config);
    if (link !== null) return await meetForge({ ...bench, config, link });
    await dropForeign(bench);
    return { place: null, asksMain: false };
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    platform.log.warn({ project: project.name, why: error.message }, 'the forge cannot be reached');
    noteForgeTrouble(platform, project.id, error.message);
    return unreachable(bench, config.forge, error.message);
  }
}

/** Brings together what is here and on a forge that answers. */
export async function meetForge(bench: ForgeBench): Promise<ForgeLook> {
  const { platform, link, target } = bench;
  // First of all, so that nothing that may be merged already is looked at as if it were not.
  await finishOnForge(bench);
  const isSynced = await syncForge(bench);
  const main = mainOnForge(link, target.tip, platform.clock());
  if (isSynced && main !== null && isRedOnForge(main)) await noteRedThere(bench);
  const alarm = await alarmOf(bench);
  const isKept = keepsAlarm(main, { isTheirs: alarm?.isTheirs ?? false, now: platform.clock() });
  const isOver = isSynced && !isKept && alarm !== null && alarm.isTheirs && alarm.commit === target.tip;
  return {
    place: { is: 'there', link, keepsAlarm: isKept },
    asksMain: isOver && (await isUnanswered(bench)),
  };
}

async function unreachable(bench: Bench, name: string, reason: string): Promise<ForgeLook> {
  const alarm = await alarmOf(bench);
  return {
    place: { is: 'unreachable', name, reason, keepsAlarm: alarm?.isTheirs ?? false },
    asksMain: false,
  };
}

/** A merge that was begun on a forge which the project has no more can only be found on main. */
async function dropForeign(bench: Bench): Promise<void> {
  const begun = (await queueOf(bench.platform.store.db, bench.project.id))?.advance ?? null;
  if (begun !== null && begun.forgeRef !== null) await forgetAdvance(bench);
}
