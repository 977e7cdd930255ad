import type { Gate, Lanes, Places } from '@pawl/core/sessions/turn-taking';
import type { SessionPlatform } from '../../accounts/session-platform.ts';
import type { Alarms } from './alarms.ts';
import type { SessionWatch } from './session-watch.ts';

/** The state of one daemon's reconciler: nothing in it outlives the process, and nothing of it is the truth. */
export type Loop = {
  platform: SessionPlatform;
  /** One step of an agent at a time. */
  lanes: Lanes;
  startGate: Gate;
  agentPlaces: Places;
  sessionPlaces: Places;
  watch: SessionWatch;
  alarms: Alarms;
  /** Sessions that ran when the last daemon ended and were gone when this one came. */
  lost: Set<string>;
  /** Sessions that were ended because they printed nothing. */
  silent: Set<string>;
  closed: boolean;
  /** There may be something to do for this agent. A wake is advice: it may be lost, doubled or early. */
  wake(agentId: string): void;
};
