import { limits } from '@pawl/schema/limit';
import type { Platform } from '../platform/platform.ts';

type Trouble = { reason: string; until: number };

/** What stands between us and the forges of projects: for a while they are left alone. */
const troubles = new WeakMap<Platform, Map<string, Trouble>>();

/** Leaves a project's forge alone for a while, for this reason. */
export function noteForgeTrouble(platform: Platform, projectId: string, reason: string): void {
  const known = troubles.get(platform) ?? new Map<string, Trouble>();
  troubles.set(platform, known.set(projectId, { reason, until: platform.clock() + limits.forgeRetryMs }));
}

/** Why a project's forge is left alone; null when it may be asked. */
export function forgeTroubleOf(platform: Platform, projectId: string): string | null {
  const trouble = troubles.get(platform)?.get(projectId);
  if (trouble === undefined) return null;
  const leftMs = trouble.until - platform.clock();
  // A clock that was set back keeps nobody waiting.
  if (leftMs > 0 && leftMs <= limits.forgeRetryMs) return trouble.reason;
  troubles.get(platform)?.delete(projectId);
  return null;
}
