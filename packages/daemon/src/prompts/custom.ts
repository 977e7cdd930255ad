import { promptLimits } from '@pawl/core/prompts/prompt-limit';
import { hasErrno, isPassing, messageOf } from '@pawl/schema/error';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import customFiles from '../../prompts/custom-files.json' with { type: 'json' };
import { isWithin, readDefinitionText } from '../definitions/definition-text.ts';

/** Which file of a repository speaks to which role. `REVIEWER.md` is, by custom, for the merge queue. */
const fileOfRole = new Map(Object.entries(customFiles));

/** Where a repository keeps them; all that exist are used, the first place first. */
const folders = ['.pawl', '.multiclaude'];

/** The repository's own texts for a role, and why a file that is there cannot be used. */
export type CustomTexts = { texts: string[]; problems: string[] };

/**
 * Reads what the repository asks of agents in a role, from the agent's own worktree as it is now. Whoever can commit can
 * write these files: they are text to append, of bounded size, and no link leads out of the worktree. A file that cannot
 * be used keeps nobody from working.
 */
export async function readCustomTexts(
  worktree: string,
  role: string | null,
  /** Files that the provider would read by itself, and was kept from together with the repository's settings. */
  hidden: readonly string[] = [],
): Promise<CustomTexts> {
  const found: CustomTexts = { texts: [], problems: [] };
  const name = fileOfRole.get(role ?? '');
  const own = name === undefined ? [] : folders.map((folder) => join(folder, name));
  const seen = new Set<string>();
  for (const path of [...hidden, ...own]) {
    try {
      const place = await realpath(join(worktree, path));
      // Two names for one file are no reason to say the same twice.
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

/** The text of a file that lies, without links, at this place inside the worktree. Throws when it cannot be used. */
async function readCustomText(worktree: string, place: string): Promise<string> {
  if (!isWithin(worktree, place)) throw new Error('is a link that leads out of the worktree');
  const file = await readDefinitionText(place, worktree);
  if (file === null || file.state === 'same') return '';
  if (file.state === 'refused') throw new Error(file.reason);
  const { customBytes } = promptLimits;
  if (file.bytes.length > customBytes) throw new Error(`has more than ${customBytes} bytes`);
  if (file.bytes.includes(0)) throw new Error('is not text');
  return new TextDecoder('utf-8', { fatal: true }).decode(file.bytes);
}
