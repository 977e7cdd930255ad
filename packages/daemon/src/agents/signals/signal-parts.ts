import type { SessionPlatform } from '../../accounts/session-platform.ts';
import type { Reconciler } from '../../sessions/reconcile/reconciler.ts';

export type SignalParts = { platform: SessionPlatform; reconciler: Reconciler };
