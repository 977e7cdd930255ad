import { messageOf } from '@pawl/schema/error';
import { lookAround } from '../look-around.ts';
import type { Probe } from '../probe.ts';
import type { Other, Roster } from '../roster.ts';
import { exitCodeOf, rosterOf } from '../roster.ts';

/**
 * A session's position among others in its project: `alone`, `first` of several, `beside` an earlier one, or `unknown`.
 */
export type Standing = 'alone' | 'first' | 'beside' | 'unknown';

export type Survey = {
  standing: Standing;
  others: Other[];
  /** The asking agent, if known. */
  own: { pid: number; start: string } | null;
  /** Why it is unknown who else is here, and what could not be seen. */
  doubts: string[];
  /** Whether exactly this process lives; null if unknown. */
  isAlive(identity: { pid: number; start: string }): boolean | null;
};

/** Surveys a project. A failed survey is an answer, too: unknown. */
export function surveyOf(probe: Probe, root: string, worktrees: readonly string[]): Survey {
  try {
    const look = lookAround(probe.view, probe.recognise);
    const roster = rosterOf({ view: probe.view, look, root, self: probe.self, worktrees });
    const { byPid } = look;
    return {
      standing: standingOf(roster),
      others: roster.others,
      own: roster.own,
      doubts: roster.doubts,
      isAlive: ({ pid, start }) => byPid.get(pid)?.start === start,
    };
  } catch (error) {
    return unknownSurvey(error);
  }
}

/** The survey when nothing could be seen, and why. */
export function unknownSurvey(error: unknown): Survey {
  return { standing: 'unknown', others: [], own: null, doubts: [messageOf(error)], isAlive: () => null };
}

/** Two that started at the same moment see each other; the earlier start, or the lower pid, is the first. */
function standingOf(roster: Roster): Standing {
  const code = exitCodeOf(roster);
  if (code === 2) return 'unknown';
  if (code === 0) return 'alone';
  // A process that cannot be seen may have been there before us.
  return roster.isEldest && roster.doubts.length === 0 ? 'first' : 'beside';
}
