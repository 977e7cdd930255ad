import type { Session } from '@pawl/schema/record';
import type { PromptAssets } from './assets.ts';
import { block } from './tag.ts';

const lookFirst = `Check the state of your worktree (git status, git log, .pawl/output/progress.md) before you do anything, then continue.`;

export const interruptedNotice = block(
  'interrupted',
  `You were interrupted: the machine or the program that ran you stopped in the middle of your turn. A tool that was
running may have done all, some or none of its work. ${lookFirst}`,
);

export const missingSignalNotice = block(
  'missing_signal',
  `You ended your turn without writing .pawl/output/signal.json, so it is unknown whether the work is done.
Finish what is left, commit it, and then write the signal.`,
);

export const retryNotice = block(
  'provider_error',
  `An error of your model's service cut your last turn short; you did not cause it. Everything you wrote and committed is
still there. A tool that was running may have done only part of its work. ${lookFirst}`,
);

export const accountSwitchedNotice = block(
  'account_switched',
  `Your last turn ended at a usage limit, and you continue with another account. Your task and your worktree are the same.
Work in progress may be half done. ${lookFirst}`,
);

/**
 * Asks a finished agent to commit. Paths are absolute, because its shell may be anywhere. Covers tracked files only:
 * untracked files may be anything, and are kept and shown to a person instead.
 */
export function commitNotice(assets: PromptAssets, paths: string[]): string {
  const quote = assets.escape;
  return block(
    'uncommitted',
    `Your work is done, but tracked files have uncommitted changes, in:

${paths.map((path) => `- ${quote(path)}`).join('\n')}

In each of these directories: cd into it by that absolute path, review the changes with git status and git diff, stage
them with \`git add -u\` (tracked files only; add no untracked files), and commit with a message that states their
purpose. Restore what should not be kept. Change nothing else, and then write the signal again.`,
  );
}

/** Asks an agent to correct its output, or to answer what it left unanswered. */
export function outputNotice(assets: PromptAssets, complaints: string[]): string {
  const quote = assets.escape;
  return block(
    'output_refused',
    `Your work cannot be accepted as it is:

${complaints.map((complaint) => `- ${quote(complaint)}`).join('\n')}

Correct this: files in .pawl/output/ keep their ids, and a review thread is answered with \`pawl plan answer\`. Change
nothing else, and then write the signal again. You are asked only once: what is still wrong then is refused.`,
  );
}

/** The notice that starts a session which does not start its run; null for other sessions. */
export function noticeOf(purpose: Session['purpose']): string | null {
  const notices: Record<Session['purpose'], string | null> = {
    work: null,
    'missing-signal': missingSignalNotice,
    interrupted: interruptedNotice,
    retry: retryNotice,
    account: accountSwitchedNotice,
    commit: null,
    output: null,
  };
  return notices[purpose];
}
