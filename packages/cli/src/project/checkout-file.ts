import { projectRoot } from '@pawl/roster/project-root';
import { isInside } from '@pawl/roster/roster';
import { PawlError } from '@pawl/schema/error';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { printableLine } from '@pawl/present/text';

/** The root of the checkout around a path; refuses anything else. */
export function checkoutAt(path: string): string {
  const directory = resolve(path);
  const shown = printableLine(directory);
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new PawlError('usage', `${shown} is not a directory.`, { hint: 'Name a checkout with -C.' });
  const says = (question: string) =>
    spawnSync('git', ['-C', directory, 'rev-parse', question], { encoding: 'utf8' }).stdout?.trim() === 'true';
  if (says('--is-inside-work-tree')) return projectRoot(directory);
  const what = says('--is-bare-repository') ? 'a bare repository, which has no checkout' : 'not in a checkout of git';
  throw new PawlError('not_a_repository', `${shown} is ${what}.`, {
    hint: 'Hooks are for a checkout in which agents are started: go there, or name it with -C.',
  });
}

/** The text of a file in a checkout, or null. */
export function readCheckoutFile(root: string, file: string): string | null {
  const path = placeOf(root, file);
  if (!existsSync(path)) return null;
  const bytes = readFileSync(path);
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  throw new PawlError('conflict', `${printableLine(path)} is not UTF-8 text.`, { hint: nothingChanged });
}

/** Writes a file of a checkout atomically, or removes it. */
export function writeCheckoutFile(root: string, file: string, text: string | null): void {
  const path = placeOf(root, file);
  if (text === null) return rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.pawl-${process.pid}`;
  writeFileSync(draft, text, { flag: 'wx', mode: existsSync(path) ? statSync(path).mode & 0o777 : 0o644 });
  renameSync(draft, path);
}

const nothingChanged = 'Nothing was changed. Replace it with a plain file, then try again.';

/**
 * The real path of a file. A link may lead to another file of the checkout, as AGENTS.md often does, but not outside.
 */
function placeOf(root: string, file: string): string {
  const path = join(root, file);
  const directory = dirname(path);
  const above = lstatSync(directory, { throwIfNoEntry: false });
  if (above !== undefined && (!isDirectory(directory) || !isInside(realpathSync(directory), realpathSync(root)))) {
    throw new PawlError('conflict', `${printableLine(directory)} is no directory of the checkout.`, {
      hint: 'Nothing was changed. Move it away, then try again.',
    });
  }
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return path;
  const real = existsSync(path) ? realpathSync(path) : null;
  if (real !== null && isInside(real, realpathSync(root)) && statSync(real).isFile()) return real;
  throw new PawlError(
    'conflict',
    `${printableLine(path)} is a link that leads out of the checkout, or no plain file.`,
    {
      hint: nothingChanged,
    },
  );
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
