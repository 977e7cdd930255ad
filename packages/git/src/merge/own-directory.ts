import { appendFile, chmod, lstat, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Stats } from 'node:fs';
import { hasErrno, isPassing, PawlError } from '@pawl/schema/error';
import { runWithoutRepository } from '../command/command.ts';
import { withLock } from '../command/lock.ts';
import type { Repository } from '../repository/repository.ts';

const ownConfig = `[core]
\thooksPath = /dev/null
\tfsmonitor = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
`;

/** Leaves files unchanged: `-text` disables line ending conversion, and no other attribute of a work tree counts. */
const rawAttributes = '* -text -ident !filter !working-tree-encoding\n';

const rawConfig = `${ownConfig}[core]
\tfileMode = true
\tsymlinks = true
\tsplitIndex = false
\tprotectNTFS = false
`;

/**
 * Creates Pawl's own git directory for a repository unless it exists. It is a bare repository without branches that
 * only Pawl writes, so its config can be trusted; it appears by a rename, complete or not at all.
 */
export async function ensureOwnDirectory(repository: Origin, ownDir: string): Promise<void> {
  await ensureBareDirectory(repository, ownDir, (draft) => appendFile(join(draft, 'config'), ownConfig));
}

/**
 * Creates a git directory for raw access to files, inside Pawl's own one, and returns its path. Its attributes override
 * those of a work tree, which could otherwise convert line endings or encodings.
 */
export async function ensureRawDirectory(repository: Origin, ownDir: string): Promise<string> {
  const rawDir = join(ownDir, 'pawl-raw');
  await ensureBareDirectory(repository, rawDir, async (draft) => {
    await appendFile(join(draft, 'config'), rawConfig);
    await mkdir(join(draft, 'info'), { recursive: true });
    await writeFile(join(draft, 'info', 'attributes'), rawAttributes);
  });
  return rawDir;
}

type Origin = Pick<Repository, 'root' | 'objectFormat'>;

async function ensureBareDirectory(
  repository: Origin,
  ownDir: string,
  complete: (draft: string) => Promise<void>,
): Promise<void> {
  if (await isUsable(repository, ownDir)) return;
  await withLock(`own:${ownDir}`, async () => {
    if (await isUsable(repository, ownDir)) return;
    const draft = `${ownDir}.draft`;
    await mkdir(dirname(ownDir), { recursive: true, mode: 0o700 });
    // A git process of a killed daemon may still write there for a moment.
    await rm(draft, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
    const format = `--object-format=${repository.objectFormat}`;
    await runWithoutRepository(dirname(ownDir), ['init', '--quiet', '--bare', '--template=', format, '--', draft]);
    await complete(draft);
    await chmod(draft, 0o700);
    await rename(draft, ownDir);
  });
}

/** The directory appears by a rename: check that it exists, then its content. */
async function isUsable(repository: Origin, ownDir: string): Promise<boolean> {
  let cause: unknown;
  try {
    const directory = await lstatOrNull(ownDir);
    if (directory === null) return false;
    const config = await readFile(join(ownDir, 'config'), 'utf8');
    const objectFormat = /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? 'sha256' : 'sha1';
    if (directory.isDirectory() && objectFormat === repository.objectFormat) return true;
  } catch (error) {
    if (isPassing(error)) throw error;
    cause = error;
  }
  throw new PawlError('conflict', `${ownDir} is not a git directory that Pawl made for ${repository.root}.`, {
    hint: 'Move it aside; it holds nothing of yours and will be recreated.',
    cause,
  });
}

async function lstatOrNull(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return null;
    throw error;
  }
}
