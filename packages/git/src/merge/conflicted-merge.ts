import { checkCommitId, runOnChain } from '../command/chain-command.ts';
import { asBytes, writeCommit } from '../repository/commit-object.ts';
import { gitLimits } from '../command/limit.ts';
import { treeOf } from './merge-step.ts';
import { needsNewerGit } from './merge.ts';
import { exportCommits } from './queue-objects.ts';
import { readRange } from './replay.ts';
import type { Repository } from '../repository/repository.ts';

export type ConflictRequest = {
  ownDir: string;
  /** The branch's commit, and the one to merge into it. */
  head: string;
  onto: string;
  /** Heads of changes that `onto` has as other commits. */
  landed: readonly string[];
  atMs: number;
};

/** One version of a conflicted file: 1 is the base, 2 ours, 3 theirs. Names are bytes, one character each. */
export type Stage = { mode: string; id: string; stage: string; name: string };

/** A merge of two commits; `tree` has the conflicted files with markers. */
export type ConflictedMerge = { tree: string; stages: Stage[] };

/** Merges a commit into a branch's head, with conflict markers, and writes the objects to the user's repository. */
export async function mergeWithConflicts(repository: Repository, request: ConflictRequest): Promise<ConflictedMerge> {
  const { ownDir, head, onto, landed, atMs } = request;
  const { below } = await readRange(repository, { ownDir, onto, head, landed });
  const tree = below.length === 0 ? '' : await treeOf(repository, ownDir, onto);
  // A substitute for `onto` that descends from the landed heads, so that git finds the right base.
  const theirs =
    below.length === 0
      ? checkCommitId(onto)
      : await writeCommit(repository, ownDir, { tree, parents: [onto, ...below], message: '', atMs });
  const args = ['merge-tree', '--write-tree', '-z', '--no-messages', checkCommitId(head), theirs];
  const options = { answers: [1, 129], asBytes: true, maxBytes: gitLimits.statusBytes };
  const { exitCode, stdout } = await runOnChain(repository, ownDir, args, options);
  if (exitCode === 129) throw needsNewerGit();
  const [merged = '', ...lines] = stdout.split('\0').filter((word) => word !== '');
  const message = asBytes('merge with conflicts\n');
  const commit = await writeCommit(repository, ownDir, { tree: merged, parents: [head, onto], message, atMs });
  await exportCommits(repository, ownDir, { tip: commit, not: [head] });
  return { tree: merged, stages: lines.flatMap(stageOf) };
}

function stageOf(line: string): Stage[] {
  const [, mode = '', id = '', stage = '', name = ''] =
    /^([0-7]{6}) ([0-9a-f]{40,64}) ([123])\t(.+)$/s.exec(line) ?? [];
  return name === '' ? [] : [{ mode, id, stage, name }];
}
