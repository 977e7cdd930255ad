import type { MergeMethod } from '@pawl/schema/change';
import type { Change } from '@pawl/schema/change';
import { readCommit, readCommits } from '@pawl/git/repository/commit-object';
import { closeChain, mergeStep, treeOf } from '@pawl/git/merge/merge-step';
import type { Repository } from '@pawl/git/repository/repository';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import type { Cache, Caches } from '../../platform/caches.ts';

/** The context in which a chain is built. */
export type ChainContext = { repository: Repository; ownDir: string; method: MergeMethod; caches: Caches };

/** Main with all changes up to this one. */
export type ChainLink = { change: Change; commit: string; tree: string };

export type Chain = {
  main: string;
  mainTree: string;
  links: ChainLink[];
  /** Changes that conflict with main, with the conflicting files. */
  conflicting: { change: Change; files: string[] }[];
  /** Changes that cannot be merged at all, with git's error. */
  broken: { change: Change; reason: string }[];
  /** Changes that main already contains. */
  empty: Change[];
};

type Step = Awaited<ReturnType<typeof mergeStep>> | { do: 'fail'; reason: string };

/**
 * Merges changes onto main, one after the other, in Pawl's own git directory. A change that merges with main, but not
 * with an earlier change, is left out this time, until the earlier one has landed. The same changes on the same main
 * always give the same commits.
 */
export async function buildChain(
  context: ChainContext,
  { main, changes, landed = [] }: { main: string; changes: readonly Change[]; landed?: readonly string[] },
): Promise<Chain> {
  const mainTree = await treeOfCommit(context, main);
  const chain: Chain = { main, mainTree, links: [], conflicting: [], broken: [], empty: [] };
  const step = steps(context, changes);
  for (const change of changes) {
    const tip = chain.links.at(-1) ?? { commit: main, tree: mainTree };
    const before = [...landed, ...chain.links.map((link) => link.change.head)];
    const onTip = await step(tip, change, before);
    if (onTip.do === 'merged') {
      chain.links.push({ change, commit: onTip.commit, tree: onTip.tree });
      continue;
    }
    const alone = tip.commit === main ? onTip : await step({ commit: main, tree: mainTree }, change, landed);
    if (alone.do === 'fail') chain.broken.push({ change, reason: alone.reason });
    if (alone.do === 'conflict') chain.conflicting.push({ change, files: alone.files });
    if (alone.do === 'nothing') chain.empty.push(change);
  }
  return chain;
}

/** The commit that main moves to when the first `length` links land: the last link, or a merge commit over several. */
export async function commitOfChain(context: ChainContext, chain: Chain, length: number): Promise<string> {
  const links = chain.links.slice(0, length);
  const tip = links.at(-1)?.commit;
  if (tip === undefined) return chain.main;
  const titles = links.map(({ change }) => `- ${change.title} (${change.id.slice(0, 8)})`).join('\n');
  const message = `Merge ${links.length} changes\n\n${titles}\n`;
  const atMs = Math.max(...links.map(({ change }) => timeOf(change)));
  return closeChain(context.repository, { ownDir: context.ownDir, main: chain.main, tip, message, atMs });
}

/** Cached steps and trees; the same inputs give the same commits, so entries never expire. */
const knownSteps: Cache<Map<string, Promise<Step>>> = { empty: () => new Map() };
const knownTrees: Cache<Map<string, Promise<string>>> = { empty: () => new Map() };

type Tip = { commit: string; tree: string };
type StepOnto = (onto: Tip, change: Change, landed: readonly string[]) => Promise<Step>;

/** Merges each change onto a commit. Reads the commits of all of them at once on first use. */
function steps({ repository, ownDir, method, caches }: ChainContext, changes: readonly Change[]): StepOnto {
  let reading: ReturnType<typeof readCommits> | null = null;

  async function readHead(head: string) {
    reading ??= readCommits(
      repository,
      ownDir,
      changes.map((change) => change.head),
    );
    return (await reading).get(head) ?? readCommit(repository, ownDir, head);
  }

  return async ({ commit: onto, tree: ontoTree }, change, landed) => {
    const { head } = change;
    const request = { ownDir, onto, head, method, message: messageOfChange(change), atMs: timeOf(change), landed };
    const key = [ownDir, onto, head, method, request.atMs, request.message, ...landed].join('\0');
    try {
      return await remember(caches.of(knownSteps), key, () =>
        mergeStep(repository, { ...request, ontoTree, readHead: () => readHead(head) }),
      );
    } catch (error) {
      // A broken change must not block the others.
      if (error instanceof PawlError && error.code === 'git_failed') return { do: 'fail', reason: error.message };
      throw error;
    }
  };
}

function treeOfCommit({ repository, ownDir, caches }: ChainContext, commit: string): Promise<string> {
  return remember(caches.of(knownTrees), `${ownDir}\0${commit}`, () => treeOf(repository, ownDir, commit));
}

function remember<T>(memory: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const before = memory.get(key);
  if (before !== undefined) return before;
  const made = make();
  memory.set(key, made);
  // A failure may be transient, so do not cache it.
  made.catch(() => memory.delete(key));
  for (const oldest of memory.keys()) {
    if (memory.size <= limits.rememberedSteps) break;
    memory.delete(oldest);
  }
  return made;
}

function timeOf(change: Change): number {
  return change.queuedAt ?? change.openedAt;
}

/** The commit message of a change. */
export function messageOfChange({ title, summary, id }: Change): string {
  return [title, summary.trim(), `Pawl-Change: ${id}`].filter((part) => part !== '').join('\n\n') + '\n';
}
