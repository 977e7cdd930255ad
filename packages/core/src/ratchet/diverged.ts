/** A local branch and its remote's that each have commits which the other lacks. */
export type Divergence = { branch: string; local: string; remote: string; tip: string };

/** Says that local main and the remote's have diverged, with the commands to look at it and to settle it. */
export function divergedNews({ branch, local, remote, tip }: Divergence): { text: string; next: string[] } {
  const short = (commit: string) => commit.slice(0, 10);
  return {
    text: `local ${branch} (${short(local)}) has diverged from ${remote}/${branch} (${short(tip)}); the queue works from ${remote}’s`,
    next: [
      `git fetch ${remote}`,
      `git log --oneline --left-right ${branch}...${remote}/${branch}`,
      `git branch old-${branch} ${branch} && git switch ${branch} && git reset --keep ${remote}/${branch}`,
    ],
  };
}

/** Describes commits of a change that were removed from the target branch, and what a person can do about them. */
export function droppedDetail(
  commits: readonly { commit: string; subject: string }[],
  { branch, tip, hasMore }: { branch: string; tip: string; hasMore: boolean },
): string {
  const [newest] = commits;
  const list = commits.map(({ commit, subject }) => `${commit.slice(0, 10)} ${subject}`).join(', ');
  const count = commits.length === 1 ? 'a commit' : `${commits.length}${hasMore ? ' or more' : ''} commits`;
  return `it has ${count} that ${branch} had and lacks now (${list}); without them: git rebase --onto ${tip.slice(0, 10)} ${newest?.commit.slice(0, 10) ?? ''}`;
}
