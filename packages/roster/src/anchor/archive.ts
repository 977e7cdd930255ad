import { hasErrno, PawlError } from '@pawl/schema/error';
import { copyFileSync, constants, linkSync, mkdirSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rosterLimits } from '../roster-limit.ts';
import { layoutOf, leadsOutside, placeIn, readAnchor } from './anchor-file.ts';
import { anchorPath, safeId } from './anchor-path.ts';

/** Moves a session's anchor to the archive and returns its new path; null if there was none. Never overwrites. */
export function archiveAnchor(
  root: string,
  session: { id: string | null; description: string | null; now: Date },
): string | null {
  const layout = layoutOf(root);
  const file = anchorPath(layout, session.id);
  const from = placeIn(root, file);
  if (from === null || readAnchor(root, file) === null) return null;
  const name = archiveName(session);
  for (let number = 1; number <= rosterLimits.archiveNames; number++) {
    const path = `${layout.directory}/sessions/${name}${number === 1 ? '' : `-${number}`}.${layout.extension}`;
    mkdirSync(join(root, dirname(path)), { recursive: true });
    const to = placeIn(root, path);
    if (to === null) throw leadsOutside(path);
    if (move(from, to)) return path;
  }
  throw new PawlError('conflict', `There are ${rosterLimits.archiveNames} archives called ${name} already.`, {
    hint: 'Give it another --description.',
  });
}

/** `YYYY-MM-DD-HH-MM`, the id if there is one, and the description. */
export function archiveName({
  id,
  description,
  now,
}: {
  id: string | null;
  description: string | null;
  now: Date;
}): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const time = [now.getFullYear(), now.getMonth() + 1, now.getDate(), now.getHours(), now.getMinutes()].map(two);
  const about = (description ?? '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+/, '')
    .slice(0, rosterLimits.descriptionCharacters)
    .replace(/[-.]+$/, '');
  return [...time, ...(id === null ? [] : [safeId(id)]), about === '' ? 'session' : about].join('-');
}

/** Renames a file; false if the new name is taken. */
function move(from: string, to: string): boolean {
  try {
    linkSync(from, to);
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    // Some file systems have no hard links.
    if (!hasErrno(error, 'EPERM', 'ENOTSUP', 'EXDEV', 'EMLINK')) throw error;
    try {
      copyFileSync(from, to, constants.COPYFILE_EXCL);
    } catch (failure) {
      if (hasErrno(failure, 'EEXIST')) return false;
      throw failure;
    }
  }
  unlinkSync(from);
  return true;
}
