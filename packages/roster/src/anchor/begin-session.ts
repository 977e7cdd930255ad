import { markerVariable } from '@pawl/host/session/marker';
import type { Other } from '../roster.ts';
import { canonical, isBelowAny } from '../roster.ts';
import { layoutOf, readAnchor } from './anchor-file.ts';
import { anchorPath, idIn } from './anchor-path.ts';
import type { HelperFile } from './helper-file.ts';
import { createHelperFile, helperFiles, identify } from './helper-file.ts';
import type { Survey } from './survey.ts';

/**
 * What a session is to do first.
 *
 *   a worktree of its own ─────────────────────▶ isolated: nobody else is there
 *   alone, or first of several ─┬─ no anchor ──▶ fresh
 *                               └─ an anchor ──▶ recover: whoever wrote it has crashed
 *   somebody was there before ─────────────────▶ helper
 *   nobody can say ────────────────────────────▶ restricted: as a helper, and nothing is recovered
 */
export type Branch = 'isolated' | 'fresh' | 'recover' | 'helper' | 'restricted';

export type Beginning = {
  branch: Branch;
  id: string | null;
  /** Where the session keeps its notes, relative to the project. */
  file: string | null;
  /** What the crashed session left; only to be recovered from. */
  notes: string | null;
  others: Other[];
  helpers: HelperFile[];
  doubts: string[];
  /** The environment calls it a helper, and there is nobody whom it could help. */
  isOrphan: boolean;
};

/** Where a session is, and what it was told by whoever started it. */
export type Place = { root: string; environment: NodeJS.ProcessEnv; worktrees: readonly string[] };

/** Decides which of the branches it is. Only a helper's own file is ever written, and a session in a worktree looks at nothing. */
export function beginSession(place: Place, look: () => Survey, random?: () => string): Beginning {
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
  // A helper that nobody needs has all duties, and with them the place of the one that has no id.
  const isOrphan = isHelper;
  const own = isOrphan ? null : id;
  const file = anchorPath(layoutOf(root), own);
  const notes = readAnchor(root, file);
  const helpers = helperFiles(root, own, survey);
  return { branch: notes === null ? 'fresh' : 'recover', id: own, file, notes, others, helpers, doubts, isOrphan };
}

/** True for a session of Pawl's own in a worktree that nobody shares. */
export function isIsolated({ root, environment, worktrees }: Place): boolean {
  if (!environment[markerVariable] || !environment['PAWL_AGENT_ID']) return false;
  return isBelowAny(canonical(root) ?? root, worktrees);
}
