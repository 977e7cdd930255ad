import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { refreshedIndex } from './git/index-file.ts';
import { runGit } from './git/run-git.ts';

/** The time of the first commit; each further one is a minute later. */
const firstCommitSeconds = 1_767_225_600;

/** An environment in which git sees no settings of the person or machine. */
export function isolatedGitEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return {
    ...Object.fromEntries(inherited),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
  };
}

/** Git looks for something to tidy up after each commit, which is a process more. */
const withoutMaintenance = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'maintenance.auto',
  GIT_CONFIG_VALUE_0: 'false',
};

/** Runs git in a directory, without global settings, and returns its trimmed output. */
export async function git(directory: string, args: string[], environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const env = { ...isolatedGitEnvironment(), ...withoutMaintenance, ...environment };
  return (await runGit(args, { cwd: directory, env })).trim();
}

export type SampleOptions = {
  /** Path and content of the files of the first commit. */
  files?: Record<string, string>;
  /** The number of commits on `main`; 0 leaves its HEAD unborn. */
  commits?: number;
};

/** Repositories made by this process, by options: a copy takes no git process, a new one several. */
const made = new Map<string, Part[]>();
const rememberedCharacters = 10_000;
type Part = { path: string; content: Buffer | null };

/** Creates a real repository. Equal options give equal commit ids. */
export async function sampleRepository(directory: string, options: SampleOptions = {}): Promise<void> {
  await mkdir(directory, { recursive: true });
  const key = JSON.stringify(options);
  const known = made.get(key);
  const isEmpty = (await readdir(directory)).length === 0;
  if (known !== undefined && isEmpty) return copyTo(directory, known);
  await makeRepository(directory, options);
  if (isEmpty && key.length < rememberedCharacters) made.set(key, await partsOf(directory));
}

async function makeRepository(directory: string, options: SampleOptions): Promise<void> {
  const { files = { 'README.md': '# Sample\n' }, commits = 1 } = options;
  await git(directory, ['init', '--quiet', '--initial-branch=main']);
  for (let number = 1; number <= commits; number += 1) {
    const content = number === 1 ? files : { 'history.txt': `commit ${number}\n` };
    for (const [path, text] of Object.entries(content)) {
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), text);
    }
    await git(directory, ['add', '--all']);
    const message = number === 1 ? 'first commit' : `commit ${number}`;
    await git(directory, ['commit', '--quiet', '--allow-empty', '-m', message], commitIdentity(number));
  }
}

/** Everything below a directory, parents first; an entry without content is a directory. */
async function partsOf(directory: string): Promise<Part[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => ({ entry, path: relative(directory, join(entry.parentPath, entry.name)) }));
  return Promise.all(
    paths
      .filter(({ path }) => !path.endsWith('.sample'))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .map(async ({ entry, path }) => ({
        path,
        content: entry.isDirectory() ? null : await readFile(join(directory, path)),
      })),
  );
}

function copyTo(directory: string, parts: readonly Part[]): void {
  for (const { path, content } of parts)
    if (content === null) mkdirSync(join(directory, path), { recursive: true });
    else writeFileSync(join(directory, path), content, { mode: path.startsWith('.git/objects/') ? 0o444 : 0o666 });
  const index = parts.find(({ path }) => path === '.git/index')?.content;
  if (index) writeFileSync(join(directory, '.git', 'index'), refreshedIndex(index, directory));
}

function commitIdentity(number: number): Record<string, string> {
  const date = `${firstCommitSeconds + (number - 1) * 60} +0000`;
  return {
    GIT_AUTHOR_NAME: 'Sample Author',
    GIT_AUTHOR_EMAIL: 'author@example.invalid',
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: 'Sample Author',
    GIT_COMMITTER_EMAIL: 'author@example.invalid',
    GIT_COMMITTER_DATE: date,
  };
}
