import { mergeBase } from '@pawl/git/repository/change-diff';
import type { Change } from '@pawl/schema/change';
import { buildChain } from './chain.ts';
import { landedHeads } from '../landing/landed.ts';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { LandingContext } from '../landing/advance.ts';

type EffectParts = Pick<LandingContext, 'platform' | 'project' | 'repository' | 'ownDir'> & {
  config: ProjectConfig;
  target: { tip: string };
};

/** Two commits whose difference is the effect of a change. */
export type Effect = { base: string; change: { head: string } };

/**
 * The effect of a change on main: main compared with main plus the change. Only this shows it when a branch reverts
 * something it took from another branch that was squashed since. On a conflict, compares the branch instead.
 */
export async function effectOf(parts: EffectParts, change: Change): Promise<Effect> {
  const { platform, repository, ownDir, target, config } = parts;
  const landed = await landedHeads(parts);
  const context = { repository, ownDir, method: config.method, caches: platform.caches };
  const [link] = (await buildChain(context, { main: target.tip, changes: [change], landed })).links;
  if (link !== undefined) return { base: target.tip, change: { head: link.commit } };
  return { base: (await mergeBase(repository, ownDir, target.tip, change.head)) ?? change.base, change };
}
