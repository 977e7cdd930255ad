import type { Client } from '@pawl/protocol/client';
import type { ChangeView } from '@pawl/protocol/changes/view';
import type { QueueView } from '@pawl/protocol/queue/view';
import type { ChangeState } from '@pawl/schema/change';
import { git, isolatedGitEnvironment } from '@pawl/testing/sample-repository';
import { waitUntil } from '@pawl/testing/wait-until';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const author = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.invalid',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.invalid',
};

/** Contents by path; null deletes the file. */
export type Files = Record<string, string | null>;

/**
 * The sample's check: a file whose name begins with `bad` fails it, and so do two files of one `pair-X-`. Each run
 * appends a line to `runs`, if given; `first-time` files fail the first run of each tree that has them.
 */
export function checkScript(runs?: string): string {
  return `#!/bin/sh
${runs === undefined ? '' : `echo run >> '${runs}'`}
for file in first-time*; do
  if [ -e "$file" ] && mkdir '${runs ?? '/nonexistent'}-'$(git rev-parse 'HEAD^{tree}') 2>/dev/null; then
    echo "stumbles over $file"; exit 1
  fi
done
for file in bad*; do [ -e "$file" ] && { echo "failed: $file"; exit 1; }; done
for name in a b c; do
  set -- pair-$name-*
  [ $# -gt 1 ] && { echo "failed together: $*"; exit 1; }
done
for file in hang*; do [ -e "$file" ] && { echo hanging; sleep 600; }; done
echo passed
exit 0
`;
}

/** A project's config with one command. Changes are merged automatically, unless `more` sets `auto` itself. */
export function configWith(run: string, more = ''): string {
  return `playground: true\nchecks:\n  - name: check\n    run: ${JSON.stringify(run)}\n    timeout_minutes: 1\n${withAuto(more)}`;
}

function withAuto(more: string): string {
  if (/\bauto:/.test(more)) return more;
  const queue = /^queue: *\{ */m;
  return queue.test(more) ? more.replace(queue, 'queue: {auto: true, ') : `${more}queue: {auto: true}\n`;
}

/** Commits files in a checkout, as a person would. */
export async function commitFiles(checkout: string, files: Files, message = 'files'): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    const at = join(checkout, path);
    if (content === null) {
      rmSync(at);
      continue;
    }
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, content);
  }
  await git(checkout, ['add', '--all', '--', ...Object.keys(files)]);
  await git(checkout, ['commit', '--quiet', '-m', message], author);
  return git(checkout, ['rev-parse', 'HEAD']);
}

/** Files of a branch, which may include links. */
type BranchFiles = Record<string, string | null | { link: string }>;

/** Commits to a branch without touching any checkout; returns the commit. */
export async function commitOn(repository: string, branch: string, files: BranchFiles, base = 'main'): Promise<string> {
  const data = (text: string) => [`data ${Buffer.byteLength(text)}`, text];
  const changes = Object.entries(files).flatMap(([path, content]) => {
    if (content === null) return [`D ${JSON.stringify(path)}`];
    const [mode, text] = typeof content === 'string' ? ['100644', content] : ['120000', content.link];
    return [`M ${mode} inline ${JSON.stringify(path)}`, ...data(text)];
  });
  const words = [
    `commit refs/heads/${branch}`,
    'mark :1',
    `committer Ada <ada@example.invalid> ${Math.floor(Date.now() / 1000)} +0000`,
    ...data(`work on ${branch}`),
    `from ${base}^0`,
    ...changes,
    'get-mark :1',
    '',
  ];
  const env = isolatedGitEnvironment();
  const importing = execute('git', ['fast-import', '--quiet', '--force'], { cwd: repository, env });
  importing.child.stdin?.end(words.join('\n'));
  return (await importing).stdout.trim();
}

/** Commits files to a new branch and opens a change for it, as the person. */
export async function propose(
  client: Client,
  repository: string,
  branch: string,
  files: BranchFiles,
  base?: string,
): Promise<ChangeView> {
  await commitOn(repository, branch, files, base);
  return (await client.openChange({ path: repository, branch })).change;
}

export async function changeNow(client: Client, id: string): Promise<ChangeView> {
  return (await client.showChange(id)).change;
}

/** Waits until a change is in one of these states. */
export async function reaches(client: Client, id: string, ...states: ChangeState[]): Promise<ChangeView> {
  return waitUntil(
    async () => {
      const change = await changeNow(client, id);
      if (states.includes(change.state)) return change;
      throw new Error(`it is ${change.state}: ${change.detail}`);
    },
    { what: `${id} to be ${states.join(' or ')}` },
  );
}

/** The queue of the only project that has one. */
export async function queueNow(client: Client): Promise<QueueView> {
  const [queue] = (await client.listQueues()).queues;
  if (queue === undefined) throw new Error('no queue has begun');
  return queue;
}

/** How often the check has run. */
export function runsIn(file: string): number {
  try {
    return readFileSync(file, 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
}

/** Every commit that a branch has pointed to, oldest first, by its log. */
export async function everyTip(repository: string, branch = 'main'): Promise<string[]> {
  const log = await git(repository, ['reflog', 'show', '--format=%H', `refs/heads/${branch}`]);
  return log.split('\n').toReversed();
}
