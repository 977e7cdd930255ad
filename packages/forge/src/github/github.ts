import type { Forge, ForgeChange, ForgeMerge, MergeRequest, NewForgeChange, Track } from '@pawl/core/port/forge';
import { forgeLabels } from '@pawl/core/port/forge';
import { PawlError } from '@pawl/schema/error';
import * as z from 'zod';
import { forgeLimits } from '../forge-limit.ts';
import { ask, say } from './answer.ts';
import type { Gh } from './gh.ts';
import { ghFailed } from './gh-failure.ts';
import { createLabels } from './label.ts';
import { requestMerge } from './merge.ts';
import { pullRequestFields, pullRequestSchema, toForgeChange } from './pull-request.ts';
import type { GithubRepository } from './repository-name.ts';
import { slugOf } from './repository-name.ts';
import { checksOfRuns, runSchema } from './status-check.ts';

const pullRequests = z.array(pullRequestSchema);
const comments = z.object({ comments: z.array(z.object({ body: z.string() })).nullable() });
const issues = z.array(z.object({ url: z.string(), body: z.string() }));
const permission = z.object({ viewerPermission: z.string() });

const whose: Record<Track, string[]> = { all: [], author: ['--author=@me'], assigned: ['--assignee=@me'] };

/** The pull requests of a repository on GitHub, through the person's `gh`. */
export function createGithub({ gh, repository, track }: { gh: Gh; repository: GithubRepository; track: Track }): Forge {
  const slug = slugOf(repository);
  const repo = `--repo=${slug}`;
  const labels = createLabels(gh, repository);
  let writes: boolean | null = null;

  const mayWrite = async (): Promise<boolean> => {
    if (writes !== null) return writes;
    const answer = await ask(gh, ['repo', 'view', slug, '--json=viewerPermission'], permission);
    writes = ['ADMIN', 'MAINTAIN', 'WRITE'].includes(answer.viewerPermission);
    return writes;
  };
  const pullsWith = async (filter: readonly string[]): Promise<ForgeChange[]> => {
    const words = ['pr', 'list', repo, '--state=open', `--limit=${forgeLimits.changes}`, ...filter];
    return (await ask(gh, [...words, `--json=${pullRequestFields}`], pullRequests)).map(toForgeChange);
  };
  const view = async (ref: string): Promise<ForgeChange> =>
    toForgeChange(await ask(gh, ['pr', 'view', number(ref), repo, `--json=${pullRequestFields}`], pullRequestSchema));

  return {
    name: 'github',
    mayWrite,
    list: () => pullsWith([`--label=${forgeLabels.ours}`, ...whose[track]]),
    view,
    open: (change) => openPull({ gh, repo, mayWrite, ensureLabel: labels.ensure, pullsWith, view }, change),

    async mark(ref, { add = [], remove = [], ready = false }) {
      if (ready) await say(gh, ['pr', 'ready', number(ref), repo]);
      if (!(await mayWrite())) return;
      if (add.length > 0) await labels.add(number(ref), add);
      for (const label of remove) await labels.remove(number(ref), label);
    },

    async comment(ref, body, key) {
      const said = await ask(gh, ['pr', 'view', number(ref), repo, '--json=comments'], comments);
      if (said.comments?.some((comment) => comment.body.includes(markOf(key)))) return;
      await say(gh, ['pr', 'comment', number(ref), repo, '--body-file=-'], keyed(body, key));
    },

    merge: (ref, request) => mergePull({ gh, slug, view }, number(ref), request),

    async close(ref) {
      const words = ['pr', 'close', number(ref), repo];
      const output = await gh(words);
      if (output.exitCode !== 0 && !/already (?:merged|closed)/.test(output.stderr)) throw ghFailed(words, output);
    },

    async branchChecks(branch) {
      const fields = Object.keys(runSchema.shape).join(',');
      const words = ['run', 'list', repo, `--branch=${branch}`, `--limit=${forgeLimits.runs}`, `--json=${fields}`];
      return checksOfRuns(await ask(gh, words, z.array(runSchema)));
    },

    async openIssue({ title, body, key }) {
      const words = ['issue', 'list', repo, '--state=all', `--limit=${forgeLimits.issues}`, '--json=url,body'];
      const before = (await ask(gh, words, issues)).find((issue) => issue.body.includes(markOf(key)));
      if (before !== undefined) return before.url;
      const made = ['issue', 'create', repo, `--title=${titled(title)}`, '--body-file=-'];
      return (await say(gh, made, keyed(body, key))).trim();
    },
  };
}

type Opening = {
  gh: Gh;
  repo: string;
  mayWrite(): Promise<boolean>;
  ensureLabel(label: string): Promise<void>;
  pullsWith(filter: readonly string[]): Promise<ForgeChange[]>;
  view(ref: string): Promise<ForgeChange>;
};

/** Opens a pull request. Labelling requires write access. */
async function openPull(given: Opening, change: NewForgeChange): Promise<ForgeChange> {
  const { gh, repo } = given;
  const find = async () => {
    // Looked up by branch, not by label: the label index lags behind.
    const pulls = await given.pullsWith([`--head=${change.branch}`, `--base=${change.base}`]);
    return pulls.find(({ branch, fork }) => branch === change.branch && isSameOwner(fork, change.fork));
  };
  const before = await find();
  if (before !== undefined) return before;
  const isWriter = await given.mayWrite();
  if (isWriter) await given.ensureLabel(forgeLabels.ours);
  const head = change.fork === null ? change.branch : `${change.fork}:${change.branch}`;
  const words = ['pr', 'create', repo, `--head=${head}`, `--base=${change.base}`, `--title=${titled(change.title)}`];
  const extra = [...(isWriter ? [`--label=${forgeLabels.ours}`] : []), ...(change.draft ? ['--draft'] : [])];
  const output = await gh([...words, '--body-file=-', ...extra], change.body.slice(0, forgeLimits.textCharacters));
  const ref = /\/pull\/([1-9][0-9]*)\s*$/.exec(output.stdout)?.[1];
  if (ref !== undefined) return given.view(ref);
  // Another process opened it first.
  const other = output.stderr.includes('already exists') ? await find() : undefined;
  if (other !== undefined) return other;
  throw ghFailed(words, output);
}

function isSameOwner(a: string | null, b: string | null): boolean {
  return a?.toLowerCase() === b?.toLowerCase();
}

type Merging = { gh: Gh; slug: string; view(ref: string): Promise<ForgeChange> };

/** Merges, and checks the result: `gh` also succeeds if it was merged before, at any head. */
async function mergePull({ gh, slug, view }: Merging, ref: string, request: MergeRequest): Promise<ForgeMerge> {
  const refused = await requestMerge(gh, slug, ref, request);
  if (refused !== null) return refused;
  const { state, head, mergedCommit } = await view(ref);
  if (state !== 'merged') return { do: 'queued' };
  if (head === request.head && mergedCommit !== null) return { do: 'merged', commit: mergedCommit };
  return { do: 'refused', why: 'head-moved', reason: `it was merged at ${head.slice(0, 10)}` };
}

/** References come from our own records, and still must not become an option. */
function number(ref: string): string {
  if (/^[1-9][0-9]{0,9}$/.test(ref)) return ref;
  throw new PawlError('invalid_input', 'A pull request is named by its number.', {
    details: { ref: ref.slice(0, 40) },
  });
}

function titled(title: string): string {
  return title.slice(0, forgeLimits.titleCharacters);
}

/** An invisible comment with the key, to detect repetitions. */
function markOf(key: string): string {
  return `<!-- pawl:${key} -->`;
}

function keyed(body: string, key: string): string {
  return `${body.slice(0, forgeLimits.textCharacters)}\n\n${markOf(key)}\n`;
}
