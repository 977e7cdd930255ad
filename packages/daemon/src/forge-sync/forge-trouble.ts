import { limits } from '@pawl/schema/limit';
import type { Cache } from '../platform/caches.ts';
import type { Platform } from '../platform/platform.ts';

type Trouble = { reason: string; until: number };

/** By project, why its forge is paused. */
const troubles: Cache<Map<string, Trouble>> = { empty: () => new Map() };

/** Pauses requests to a project's forge for a while. */
export function noteForgeTrouble(platform: Platform, projectId: string, reason: string): void {
  platform.caches.of(troubles).set(projectId, { reason, until: platform.clock() + limits.forgeRetryMs });
}

/** Why a project's forge is paused, or null. */
export function forgeTroubleOf(platform: Platform, projectId: string): string | null {
  const trouble = platform.caches.of(troubles).get(projectId);
  if (trouble === undefined) return null;
  const leftMs = trouble.until - platform.clock();
  // Do not wait longer because the clock was set back.
  if (leftMs > 0 && leftMs <= limits.forgeRetryMs) return trouble.reason;
  platform.caches.of(troubles).delete(projectId);
  return null;
}
