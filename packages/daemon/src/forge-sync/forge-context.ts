import type { ForgeRules } from '@pawl/core/queue/forge-plan';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { LandingContext } from '../changes/landing/advance.ts';
import type { SessionPlatform } from '../accounts/session-platform.ts';
import type { ForgeLink } from './forge.ts';

/** The context of a sync with a project's forge. */
export type ForgeContext = LandingContext & {
  platform: SessionPlatform;
  config: ProjectConfig;
  link: ForgeLink;
};

/** The facts for judging a change on the forge now. */
export function forgeRulesOf({ platform, target, link }: ForgeContext): ForgeRules {
  return { target, mayMerge: link.mayMerge, now: platform.clock() };
}
