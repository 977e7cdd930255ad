import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const outputBytes = 16 * 1024 * 1024;

/** The second in which the first commit is made; each further one is a minute later. */
const firstCommitSeconds = 1_767_225_600;

/** An environment in which git sees no settings of the person or machine that runs it. */
export function isolatedGitEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return {
    ...Object.fromEntries(inherited),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
  };
}

/** Runs git in a directory, without any global settings, and returns what it printed, trimmed. */
export async function git(directory: string, args: string[], environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const env = { ...isolatedGitEnvironment(), ...environment };
  const { stdout } = await execute('git', args, { cwd: directory, env, maxBuffer: outputBytes });
  return stdout.trim();
}

export type SampleOptions = {
  /** Path and content of the files of the first commit. */
  files?: Record<string, string>;
  /** How many commits the branch `main` gets; 0 leaves its HEAD unborn. */
  commits?: number;
};

/** Makes a real repository. The same options give the same commit ids, whoever makes it and wherever. */
export async function sampleRepository(directory: string, options: SampleOptions = {}): Promise<void> {
  const { files = { 'README.md': '# Sample\n' }, commits = 1 } = options;
  await mkdir(directory, { recursive: true });
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
