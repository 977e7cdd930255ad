import type { DefinitionPlatform } from '../../definitions/definition-platform.ts';
import type { Reconciler } from '../../sessions/reconcile/reconciler.ts';

/** The collaborators of signals. */
export type SignalParts = { platform: DefinitionPlatform; reconciler: Reconciler };
