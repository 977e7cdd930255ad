import { messageOf } from '@pawl/schema/error';
import { lookAround } from '../look-around.ts';
import type { Probe } from '../probe.ts';
import type { Other, Roster } from '../roster.ts';
import { exitCodeOf, rosterOf } from '../roster.ts';

/**
 * How a session stands to the others in its project: `alone`, `first` of several, `beside` somebody who was there before, or
 * `unknown`.
 */
export type Standing = 'alone' | 'first' | 'beside' | 'unknown';

export type Survey = {
  standing: Standing;
  others: Other[];
  /** The agent that asks, where it is known. */
  own: { pid: number; start: string } | null;
  /** Why it is not known who else is here; and what could not be seen although somebody was. */
  doubts: string[];
  /** Whether exactly this process lives; null when nobody can say. */
  isAlive(identity: { pid: number; start: string }): boolean | null;
};

/** Looks around in a project. A look that fails is an answer, too: then nobody knows. */
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

/** What is known when nothing could be seen, and why. */
export function unknownSurvey(error: unknown): Survey {
  return { standing: 'unknown', others: [], own: null, doubts: [messageOf(error)], isAlive: () => null };
}

/** Of two that began at the same moment both see each other; who began first, or has the lower pid, is the first. */
function standingOf(roster: Roster): Standing {
  const code = exitCodeOf(roster);
  if (code === 2) return 'unknown';
  if (code === 0) return 'alone';
  // Whoever cannot be seen may have been there before us.
  return roster.isEldest && roster.doubts.length === 0 ? 'first' : 'beside';
}
