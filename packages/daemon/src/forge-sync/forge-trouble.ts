import { limits } from '@pawl/schema/limit';
import type { Workshop } from '../platform/workshop.ts';

type Trouble = { reason: string; until: number };

/** What stands between us and the forges of projects: for a while they are left alone. */
const troubles = new WeakMap<Workshop, Map<string, Trouble>>();

/** Leaves a project's forge alone for a while, for this reason. */
export function noteForgeTrouble(shop: Workshop, projectId: string, reason: string): void {
  const known = troubles.get(shop) ?? new Map<string, Trouble>();
  troubles.set(shop, known.set(projectId, { reason, until: shop.clock() + limits.forgeRetryMs }));
}

/** Why a project's forge is left alone; null when it may be asked. */
export function forgeTroubleOf(shop: Workshop, projectId: string): string | null {
  const trouble = troubles.get(shop)?.get(projectId);
  if (trouble === undefined) return null;
  const leftMs = trouble.until - shop.clock();
  // A clock that was set back keeps nobody waiting.
  if (leftMs > 0 && leftMs <= limits.forgeRetryMs) return trouble.reason;
  troubles.get(shop)?.delete(projectId);
  return null;
}
