import type { Session } from '@pawl/schema/record';
import type { PromptAssets } from './assets.ts';
import { block, foreignText } from './tag.ts';

const lookFirst = `Look at the state of your worktree (git status, git log, .pawl/output/progress.md) before you do anything, then go on.`;

export const interruptedNotice = block(
  'interrupted',
  `You were interrupted: the machine or the program that ran you went down in the middle of your turn. A tool that was
running may have done all, some or none of its work. ${lookFirst}`,
);

export const missingSignalNotice = block(
  'missing_signal',
  `You ended your turn without writing .pawl/output/signal.json, so nobody can tell whether the work is done.
Finish what is left, commit it, and then write the signal.`,
);

export const retryNotice = block(
  'provider_error',
  `Your last turn was cut short by an error of the service that you run on, not by anything you did. What you had written
and committed is there; a tool that was running may have done only a part of its work. ${lookFirst}`,
);

export const accountSwitchedNotice = block(
  'account_switched',
  `Your last turn ended at a usage limit, and you go on with another account. Your task and your worktree are the same; what
was under way may be half done. ${lookFirst}`,
);

/**
 * Asks a finished agent to commit. Paths are absolute, because its shell may be anywhere. Covers tracked files only:
 * untracked files may be anything, and are kept and shown to a person instead.
 */
export function commitNotice(assets: PromptAssets, paths: string[]): string {
  const quote = foreignText(assets);
  return block(
    'uncommitted',
    `Your work is done, but there are changes of tracked files that are not committed, in:

${paths.map((path) => `- ${quote(path)}`).join('\n')}

For each of these directories: cd into it by that absolute path, look at the changes with git status and git diff, stage
them with \`git add -u\` (tracked files only; add no untracked files), and commit with a message that says what they are
for. Restore what should not be kept. Change nothing else, and then write the signal again.`,
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
  };
  return notices[purpose];
}
