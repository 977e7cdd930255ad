import type { DefinitionPlatform } from '../../definitions/definition-platform.ts';
import type { Reconciler } from '../../sessions/reconcile/reconciler.ts';

export type SignalParts = { platform: DefinitionPlatform; reconciler: Reconciler };
