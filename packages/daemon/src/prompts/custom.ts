import { promptLimits } from '@pawl/core/prompts/prompt-limit';
import { hasErrno, isPassing, messageOf } from '@pawl/schema/error';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import customFiles from '../../prompts/custom-files.json' with { type: 'json' };
import { isWithin, readDefinitionText } from '../definitions/definition-text.ts';

/** The repository file for each role. By convention, `REVIEWER.md` is for the merge queue. */
const fileOfRole = new Map(Object.entries(customFiles));

/** Folders of a repository with such files; all are used, in this order. */
const folders = ['.pawl', '.multiclaude'];

/** The repository's texts for a role, and why existing files cannot be used. */
export type CustomTexts = { texts: string[]; problems: string[] };

/**
 * Reads the repository's instructions for a role from the agent's worktree as it is now. Anyone who can commit can
 * write these files: they are text to append, of bounded size, and no link may lead out of the worktree. An unusable
 * file does not block the agent.
 */
export async function readCustomTexts(
  worktree: string,
  role: string | null,
  /** Files that the provider would read itself, but that were blocked together with the repository's settings. */
  hidden: readonly string[] = [],
): Promise<CustomTexts> {
  const found: CustomTexts = { texts: [], problems: [] };
  const name = fileOfRole.get(role ?? '');
  const own = name === undefined ? [] : folders.map((folder) => join(folder, name));
  const seen = new Set<string>();
  for (const path of [...hidden, ...own]) {
    try {
      const place = await realpath(join(worktree, path));
      // Two names for one file must not repeat its text.
      if (seen.has(place)) continue;
      seen.add(place);
      found.texts.push(await readCustomText(await realpath(worktree), place));
    } catch (error) {
      if (hasErrno(error, 'ENOENT', 'ENOTDIR')) continue;
      if (isPassing(error)) throw error;
      found.problems.push(`${path}: ${messageOf(error)}`);
    }
  }
  return found;
}

/** Reads a file inside the worktree, without links. Throws if it cannot be used. */
async function readCustomText(worktree: string, place: string): Promise<string> {
  if (!isWithin(worktree, place)) throw new Error('is a link out of the worktree');
  const file = await readDefinitionText(place, worktree);
  if (file === null || file.state === 'same') return '';
  if (file.state === 'refused') throw new Error(file.reason);
  const { customBytes } = promptLimits;
  if (file.bytes.length > customBytes) throw new Error(`has more than ${customBytes} bytes`);
  if (file.bytes.includes(0)) throw new Error('is not text');
  return new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
}
