import { mergeBase } from '@pawl/git/repository/change-diff';
import type { Change } from '@pawl/schema/change';
import { buildChain } from './chain.ts';
import { landedHeads } from '../landing/landed.ts';
import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Bench } from '../landing/advance.ts';

/** What a change's effect follows from. */
type EffectParts = Pick<Bench, 'platform' | 'project' | 'repository' | 'ownDir'> & {
  config: ProjectConfig;
  target: { tip: string };
};

/** Two commits: what a change does is the difference between them. */
export type Effect = { base: string; change: { head: string } };

/**
 * What main would gain and lose by a change: main compared with main and the change. What a branch took from another one that
 * was squashed since, and took back, shows only there. Where they do not go together, it is the branch that is looked at.
 */
export async function effectOf(parts: EffectParts, change: Change): Promise<Effect> {
  const { platform, repository, ownDir, target, config } = parts;
  const landed = await landedHeads(parts);
  const bench = { repository, ownDir, method: config.method, caches: platform.caches };
  const [link] = (await buildChain(bench, { main: target.tip, changes: [change], landed })).links;
  if (link !== undefined) return { base: target.tip, change: { head: link.commit } };
  return { base: (await mergeBase(repository, ownDir, target.tip, change.head)) ?? change.base, change };
}
