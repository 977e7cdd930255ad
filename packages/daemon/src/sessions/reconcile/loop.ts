import type { Limiter, Lanes, Slots } from '@pawl/core/sessions/turn-taking';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import type { Alarms } from './alarms.ts';
import type { SessionWatch } from './session-watch.ts';

/** The in-memory state of one daemon's reconciler. All of it can be rebuilt from facts. */
export type Loop = {
  platform: SessionPlatform;
  /** One step of an agent at a time. */
  lanes: Lanes;
  startLimiter: Limiter;
  agentSlots: Slots;
  sessionSlots: Slots;
  watch: SessionWatch;
  alarms: Alarms;
  /** Sessions that ran when the last daemon ended and were gone when this one started. */
  lost: Set<string>;
  /** Sessions that were ended because they were silent. */
  silent: Set<string>;
  closed: boolean;
  /** Hints that this agent may have a pending step. May be lost, doubled or early. */
  wake(agentId: string): void;
};
