import { limits } from '@pawl/schema/limit';
import type { Cache } from '../platform/caches.ts';
import type { Platform } from '../platform/platform.ts';

type Trouble = { reason: string; until: number };

/** By project, why its forge is left alone for a while. */
const troubles: Cache<Map<string, Trouble>> = { empty: () => new Map() };

/** Leaves a project's forge alone for a while, for this reason. */
export function noteForgeTrouble(platform: Platform, projectId: string, reason: string): void {
  platform.caches.of(troubles).set(projectId, { reason, until: platform.clock() + limits.forgeRetryMs });
}

/** Why a project's forge is left alone; null when it may be asked. */
export function forgeTroubleOf(platform: Platform, projectId: string): string | null {
  const trouble = platform.caches.of(troubles).get(projectId);
  if (trouble === undefined) return null;
  const leftMs = trouble.until - platform.clock();
  // A clock that was set back keeps nobody waiting.
  if (leftMs > 0 && leftMs <= limits.forgeRetryMs) return trouble.reason;
  platform.caches.of(troubles).delete(projectId);
  return null;
}
