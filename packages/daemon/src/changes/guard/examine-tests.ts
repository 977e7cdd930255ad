import { gateLimits } from '@pawl/core/guard/gate-limit';
import { isTestFile, mayHoldTests } from '@pawl/core/guard/test-files';
import { measureTests } from '@pawl/core/guard/test-strength';
import type { TestPair } from '@pawl/core/guard/weaker-tests';
import { weakerTests } from '@pawl/core/guard/weaker-tests';
import { cutText } from '@pawl/core/shorten';
import type { DiffFile } from '@pawl/git/repository/branch-diff';
import type { CommitFiles } from '@pawl/git/repository/commit-files';
import type { Finding } from '@pawl/schema/change';
import { setImmediate as breathe } from 'node:timers/promises';
import { shown } from '../shown.ts';

type Request = {
  before: CommitFiles;
  after: CommitFiles;
  files: readonly DiffFile[];
  /** True if the runner's output will show a lower number of tests. */
  isCounted: boolean;
};

const bounds = { fileBytes: gateLimits.testFileBytes, totalBytes: gateLimits.testBytes };

/** Finds how a change weakens its test files, by their text: the runner's counts do not show it. */
export async function testFindings({ before, after, files, isCounted }: Request): Promise<Finding[]> {
  const replaced = files.map(({ path }) => path).filter((path) => isReplaced(path, before, after));
  const compared = files
    .map(({ path, from }) => ({ path, from: from ?? path }))
    .filter(({ path, from }) => (mayHoldTests(path) || mayHoldTests(from)) && !replaced.includes(path));
  const pathsBefore = compared.map(({ from }) => from).filter((path) => canBeRead(path, before));
  const pathsAfter = compared.map(({ path }) => path).filter((path) => canBeRead(path, after));
  const old = await before.read(pathsBefore, bounds);
  const now = await after.read(pathsAfter, bounds);
  const pairs: TestPair[] = [];
  for (const { path, from } of compared) {
    const [textBefore, textAfter] = [old.get(from), now.get(path)];
    pairs.push({
      path: shown(path),
      before: textBefore === undefined ? null : measureTests(from, textBefore),
      after: textAfter === undefined ? null : measureTests(path, textAfter),
    });
    // Yield, so that many large files do not block the daemon.
    await breathe();
  }
  const unread = compared.find(
    ({ path, from }) => (pathsBefore.includes(from) && !old.has(from)) || (pathsAfter.includes(path) && !now.has(path)),
  );
  return [
    ...replaced.map((path): Finding => ({ kind: 'test-replaced', detail: `${shown(path)}: tests became a link` })),
    ...(unread === undefined ? [] : [tooLarge(unread.path)]),
    ...weakerTests(pairs, isCounted).map((each) => ({
      ...each,
      detail: cutText(each.detail.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '?'), gateLimits.findingCharacters),
    })),
  ];
}

function canBeRead(path: string, { ids, links }: CommitFiles): boolean {
  return mayHoldTests(path) && ids.has(path) && !links.has(path);
}

/** True if a link or submodule replaces a test file or directory, or has a new target. */
function isReplaced(path: string, before: CommitFiles, after: CommitFiles): boolean {
  if (!after.links.has(path) || before.ids.get(path) === after.ids.get(path)) return false;
  if (before.ids.has(path) && isTestFile(path)) return true;
  return [...before.ids.keys()].some((each) => each.startsWith(`${path}/`) && isTestFile(each));
}

function tooLarge(path: string): Finding {
  return { kind: 'check-edited', detail: `${shown(path)}: a test file that is too large to look at` };
}
