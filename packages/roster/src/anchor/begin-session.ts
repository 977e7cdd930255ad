import { markerVariable } from '@pawl/host/session/marker';
import type { Other } from '../roster.ts';
import { canonical, isBelowAny } from '../roster.ts';
import { layoutOf, readAnchor } from './anchor-file.ts';
import { anchorPath, idIn } from './anchor-path.ts';
import type { HelperFile } from './helper-file.ts';
import { createHelperFile, helperFiles, identify } from './helper-file.ts';
import type { Survey } from './survey.ts';

/**
 * How a session begins.
 *   a worktree of its own ─────────────────────▶ isolated: nobody else is there
 *   alone, or first of several ─┬─ no anchor ──▶ fresh
 *                               └─ an anchor ──▶ recover: its writer has crashed
 *   somebody was there before ─────────────────▶ helper
 *   unknown ───────────────────────────────────▶ restricted: like a helper, and nothing is recovered
 */
export type Branch = 'isolated' | 'fresh' | 'recover' | 'helper' | 'restricted';

export type Beginning = {
  branch: Branch;
  id: string | null;
  /** The session's anchor file, relative to the project. */
  file: string | null;
  /** The anchor of the crashed session, only for recovery. */
  notes: string | null;
  others: Other[];
  helpers: HelperFile[];
  doubts: string[];
  /** The environment marks it as a helper, but there is no other agent. */
  isOrphan: boolean;
};

/** The directory of a session, and its environment. */
export type SessionSite = { root: string; environment: NodeJS.ProcessEnv; worktrees: readonly string[] };

/** Decides how a session begins. Writes only a helper's own file; an isolated session is not examined. */
export function beginSession(place: SessionSite, look: () => Survey, random?: () => string): Beginning {
  const { root, environment } = place;
  const none = { notes: null, others: [], helpers: [], doubts: [], isOrphan: false };
  if (isIsolated(place)) {
    const given = idIn(environment);
    return { ...none, branch: 'isolated', id: given, file: anchorPath(layoutOf(root), given) };
  }
  const survey = look();
  const { id, isHelper } = identify(root, environment, survey);
  const { standing, others, doubts } = survey;
  if (standing === 'beside' || standing === 'unknown') {
    const made = createHelperFile(root, id, survey.own, random);
    const helpers = helperFiles(root, made.id, survey);
    return { ...none, branch: standing === 'beside' ? 'helper' : 'restricted', ...made, others, helpers, doubts };
  }
  // A helper without a primary takes over its duties and its anchor.
  const isOrphan = isHelper;
  const own = isOrphan ? null : id;
  const file = anchorPath(layoutOf(root), own);
  const notes = readAnchor(root, file);
  const helpers = helperFiles(root, own, survey);
  return { branch: notes === null ? 'fresh' : 'recover', id: own, file, notes, others, helpers, doubts, isOrphan };
}

/** True for a session of Pawl in a worktree of its own. */
export function isIsolated({ root, environment, worktrees }: SessionSite): boolean {
  if (!environment[markerVariable] || !environment['PAWL_AGENT_ID']) return false;
  return isBelowAny(canonical(root) ?? root, worktrees);
}
