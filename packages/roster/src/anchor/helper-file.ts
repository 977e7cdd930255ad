import { randomInt } from 'node:crypto';
import { PawlError } from '@pawl/schema/error';
import { rosterLimits } from '../roster-limit.ts';
import { createAnchor, layoutOf, listAnchors, readAnchor } from './anchor-file.ts';
import type { Layout } from './anchor-path.ts';
import { anchorPath, idIn, isHelper, safeId } from './anchor-path.ts';
import type { Survey } from './survey.ts';

/** The anchor of one helper. If its first line is not its own id, it was never finished and has no session. */
export type HelperFile = { id: string; file: string; live: boolean };

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Four random characters. */
export function fourCharacters(): string {
  return Array.from({ length: 4 }, () => alphabet[randomInt(alphabet.length)]).join('');
}

/** The start of a helper's file: its id, and its process, if known. */
function opening(layout: Layout, id: string, process: { pid: number; start: string } | null): string {
  if (process === null) return `${id}\n`;
  const note = `process ${process.pid} ${process.start}`;
  return `${id}\n${layout.extension === 'md' ? `<!-- ${note} -->` : `# ${note}`}\n`;
}

/** Creates a helper's file under a new or the given id; tries another id if one is taken. */
export function createHelperFile(
  root: string,
  given: string | null,
  process: { pid: number; start: string } | null,
  random: () => string = fourCharacters,
): { id: string; file: string } {
  const layout = layoutOf(root);
  for (let attempt = 0; attempt < rosterLimits.idAttempts; attempt++) {
    const id = given ?? `helper-${random()}`;
    const file = anchorPath(layout, id);
    if (createAnchor(root, file, opening(layout, safeId(id), process)) || given !== null) return { id, file };
  }
  throw new PawlError('busy', 'No free id was found for a helper.', {
    hint: `Look through ${anchorPath(layout, 'x').replace(/\/x\..*/, '')} for files that are no longer needed.`,
  });
}

/** The other helpers' files of a project, and whether each has a live session. */
export function helperFiles(root: string, own: string | null, survey: Survey): HelperFile[] {
  const layout = layoutOf(root);
  return listAnchors(root, layout)
    .filter((file) => own === null || file !== anchorPath(layout, own))
    .map((file) => {
      const id = idOf(file, layout);
      return { id, file, live: isLive(readAnchor(root, file) ?? '', id, survey) };
    });
}

/**
 * The identity of this session: from its environment, or else the helper whose file names this process. A shell that an
 * agent opens for one command lacks the environment of an earlier one.
 */
export function identify(
  root: string,
  environment: NodeJS.ProcessEnv,
  { own }: Survey,
): { id: string | null; isHelper: boolean } {
  const id = idIn(environment);
  if (id !== null || own === null) return { id, isHelper: isHelper(environment) };
  const layout = layoutOf(root);
  const found = listAnchors(root, layout).find((file) => {
    const process = processIn(readAnchor(root, file) ?? '');
    return process?.pid === own.pid && process.start === own.start;
  });
  return found === undefined ? { id, isHelper: isHelper(environment) } : { id: idOf(found, layout), isHelper: true };
}

function idOf(file: string, { extension }: Layout): string {
  return file.slice(file.lastIndexOf('/') + 1, -extension.length - 1);
}

function processIn(text: string): { pid: number; start: string } | null {
  const match = /^(?:<!--|#) process (\d+) (\S+)/.exec(text.split('\n', 2)[1] ?? '');
  return match === null ? null : { pid: Number(match[1]), start: match[2] ?? '' };
}

function isLive(text: string, id: string, survey: Survey): boolean {
  if (text.split('\n', 1)[0]?.trim() !== id) return false;
  const process = processIn(text);
  const known = process === null ? null : survey.isAlive(process);
  // Without a recorded process, it counts as live while anybody is there.
  return known ?? survey.standing !== 'alone';
}
