import type { Gate } from '@pawl/core/guard/gate-files';
import { describeGate, gateReason, hasParts } from '@pawl/core/guard/gate-files';
import { gateLimits } from '@pawl/core/guard/gate-limit';
import { followGate } from '@pawl/core/guard/gate-reach';
import { changedPart } from '@pawl/core/guard/gate-parts';
import type { PatchFile } from '@pawl/core/guard/patch';
import { parsePatch } from '@pawl/core/guard/patch';
import { addedSkips, testsGained } from '@pawl/core/guard/skips';
import { isTestFile } from '@pawl/core/guard/test-files';
import { cutText } from '@pawl/core/shorten';
import type { DiffFile } from '@pawl/git/repository/branch-diff';
import { diffCommits, fileAt } from '@pawl/git/repository/change-diff';
import type { CommitFiles } from '@pawl/git/repository/commit-files';
import { commitFiles } from '@pawl/git/repository/commit-files';
import type { Repository } from '@pawl/git/repository/repository';
import type { Change, Finding } from '@pawl/schema/change';
import type { ProjectConfig } from '@pawl/schema/project-config';
import { testFindings } from './examine-tests.ts';
import { shown } from '../shown.ts';

export type Examination = {
  findings: Finding[];
  /** It may lower the number of tests, so it is checked alone and the counts are compared. */
  removesTests: boolean;
};

type Request = {
  ownDir: string;
  change: Pick<Change, 'head'>;
  /** The commit at which the change left the target branch. */
  base: string;
  config: Pick<ProjectConfig, 'checks' | 'guard'>;
  /** The last green main has a test count, so a lower one will be noticed. */
  isCounted: boolean;
};

/**
 * Examines a change's effect on the gate from its diff alone: files that the checks depend on, lines that skip tests,
 * removed tests. Content that is too large or not text where text is expected also needs a person's decision.
 */
export async function examineChange(repository: Repository, request: Request): Promise<Examination> {
  const { ownDir, change, base, config, isCounted } = request;
  const diff = await diffCommits(repository, { ownDir, from: base, to: change.head });
  const sides = {
    before: (path: string) => textAt(repository, ownDir, base, path),
    after: (path: string) => textAt(repository, ownDir, change.head, path),
  };
  const before = await commitFiles(repository, ownDir, base);
  const after = await commitFiles(repository, ownDir, change.head);
  const gate = await gateAt(before, config);
  const patch = parsePatch(diff.patch);
  const findings = [
    ...(diff.truncated ? [finding('check-edited', 'the change is too large to look at')] : []),
    ...(await editedParts(diff.files, gate, sides)),
    ...patch.flatMap((file) => skipsOf(file, gate)),
    ...(diff.truncated ? [] : unseen(diff.files, patch)),
    ...(await testFindings({ before, after, files: diff.files, isCounted })),
  ];
  return { findings: firstOf(findings), removesTests: diff.truncated || removesTests(diff.files, patch) };
}

/** The gate at the base commit of a change: the change's own version of it does not count. */
async function gateAt(files: CommitFiles, { checks, guard }: Request['config']): Promise<Gate> {
  const bounds = { fileBytes: gateLimits.comparedBytes, totalBytes: gateLimits.comparedBytes };
  const manifest = (await files.read(['package.json'], bounds)).get('package.json') ?? null;
  const gate = describeGate(checks, guard.paths, manifest);
  let totalBytes: number = gateLimits.reachedBytes;
  const read = async (paths: readonly string[]) => {
    const texts = await files.read(paths, { fileBytes: gateLimits.reachedFileBytes, totalBytes });
    for (const text of texts.values()) totalBytes -= text.length;
    return texts;
  };
  const commands = checks.map(({ run }) => run);
  return followGate(gate, commands, { files: files.ids, links: files.links, read });
}

type Sides = Record<'before' | 'after', (path: string) => Promise<string | null>>;

async function textAt(repository: Repository, ownDir: string, commit: string, path: string): Promise<string | null> {
  const { content } = await fileAt(repository, ownDir, commit, path, gateLimits.comparedBytes);
  return content?.toString('utf8') ?? null;
}

/** Files of the gate that the change touches, adds, removes or renames. */
async function editedParts(files: readonly DiffFile[], gate: Gate, sides: Sides): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { path, from } of files) {
    for (const name of new Set([path, from ?? path])) {
      const reason = gateReason(name, gate) ?? (hasParts(name) ? await partOf(name, gate, sides) : null);
      if (reason !== null) findings.push(finding('check-edited', `${shown(name)}: ${reason}`));
      if (findings.length > gateLimits.findings) return findings;
    }
  }
  return findings;
}

async function partOf(path: string, gate: Gate, { before, after }: Sides): Promise<string | null> {
  return changedPart(path, await before(path), await after(path), gate);
}

function skipsOf(file: PatchFile, gate: Gate): Finding[] {
  const skips = addedSkips(file, gateReason(file.path, gate) !== null);
  return skips.map(({ line, text }) => finding('skip-added', `${shown(file.path)}:${line}: ${shown(text)}`));
}

/** Test files whose lines the patch does not show, because they are not text or for another reason. */
function unseen(files: readonly DiffFile[], patch: readonly PatchFile[]): Finding[] {
  const seen = new Set(patch.filter(({ isBinary }) => !isBinary).map(({ path }) => path));
  return files
    .filter(({ path, added }) => isTestFile(path) && (added === null || !seen.has(path)))
    .map(({ path }) => finding('check-edited', `${shown(path)}: it is not text, so its tests cannot be examined`));
}

function removesTests(files: readonly DiffFile[], patch: readonly PatchFile[]): boolean {
  const isRenamedAway = files.some(({ path, from }) => from !== null && isTestFile(from) && !isTestFile(path));
  const isDeleted = patch.some((file) => file.isDeleted && isTestFile(file.path));
  return isRenamedAway || isDeleted || patch.reduce((sum, file) => sum + testsGained(file), 0) < 0;
}

function finding(kind: Finding['kind'], detail: string): Finding {
  return { kind, detail: cutText(detail, gateLimits.findingCharacters) };
}

/** Keeps the first few findings for a person to read, and says that there are more. */
function firstOf(findings: Finding[]): Finding[] {
  if (findings.length <= gateLimits.findings) return findings;
  const left = findings.length - gateLimits.findings + 1;
  const [first] = findings.slice(gateLimits.findings - 1);
  const more = finding(first?.kind ?? 'check-edited', `and ${left} more of that kind`);
  return [...findings.slice(0, gateLimits.findings - 1), more];
}
