import type { ForgeScene } from '@pawl/core/queue/forge-plan';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Bench } from '../changes/landing/advance.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { ForgeLink } from './forge.ts';

/** What a look at a project's forge works with. */
export type ForgeBench = Bench & {
  platform: SessionPlatform;
  config: ProjectConfig;
  link: ForgeLink;
};

/** What a change on the forge is judged by, as it is now. */
export function sceneOf({ platform, target, link }: ForgeBench): ForgeScene {
  return { target, mayMerge: link.mayMerge, now: platform.clock() };
}
