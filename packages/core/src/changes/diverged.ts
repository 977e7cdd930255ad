import { cutText } from '../shorten.ts';
import { shellWord } from '@pawl/schema/shell-word';

/** A local branch and its remote branch, each with commits that the other lacks. */
export type Divergence = {
  branch: string;
  local: string;
  remote: string;
  tip: string;
  /** The local branch has commits that were removed from the remote branch. */
  isRewritten: boolean;
};

/** Reports that local and remote main have diverged, with commands to inspect and settle it. */
export function divergedNews(divergence: Divergence): { text: string; next: string[] } {
  const { branch, local, remote, tip, isRewritten } = divergence;
  const short = (commit: string) => commit.slice(0, 10);
  // A rebase would restore removed commits; a reset would drop local ones.
  const settle = isRewritten
    ? `git branch old-${branch} ${branch} && git switch ${branch} && git reset --keep ${remote}/${branch}`
    : rebase(divergence);
  return {
    text: `local ${branch} (${short(local)}) has diverged from ${remote}/${branch} (${short(tip)}); the queue works from ${remote}’s`,
    next: [`git fetch ${remote}`, `git log --oneline --left-right ${branch}...${remote}/${branch}`, settle],
  };
}

/** Commits that exist only on the local target branch. */
export type Unpushed = { branch: string; remote: string; count: number };

/** Warns that a merge makes local main diverge, with the command to settle it. */
export function unpushedWarning(unpushed: Unpushed): string {
  const { branch, remote, count } = unpushed;
  return `local ${branch} has ${commitsInWords(count)} that ${remote}/${branch} does not have, so the two diverge with this merge; afterwards: git fetch ${remote} && ${rebase(unpushed)}`;
}

/** Says that an agent starts without commits that only local main has. */
export function unpushedBase({ branch, remote, count }: Unpushed): string {
  return `it starts from ${remote}/${branch}, without ${commitsInWords(count)} that only local ${branch} has; \`pawl work --base ${branch}\` starts with ${count === 1 ? 'it' : 'them'}`;
}

function rebase({ branch, remote }: { branch: string; remote: string }): string {
  return `git switch ${branch} && git rebase ${remote}/${branch}`;
}

function commitsInWords(count: number): string {
  return count === 1 ? '1 commit' : `${count} commits`;
}

/** Bounds the commit list, so that the commands are never cut off. */
const listCharacters = 600;

/** Describes commits of a change that were removed from the target branch, with the commands to drop them from it. */
export function droppedDetail(
  commits: readonly { commit: string; subject: string }[],
  about: {
    /** The target branch. */
    target: string;
    tip: string;
    hasMore: boolean;
    remote: string | null;
    /** The branch of the change, and a directory in which git may rebase it. */
    branch: string;
    directory: string;
    /** The repository; relative remote addresses resolve against it. */
    root: string;
  },
): string {
  const { target, tip, hasMore, remote } = about;
  const [newest] = commits;
  const list = cutText(
    commits.map(({ commit, subject }) => `${commit.slice(0, 10)} ${subject}`).join(', '),
    listCharacters,
  );
  const count = `${hasMore ? 'more than ' : ''}${commitsInWords(commits.length)}`;
  const git = `git -C ${shellWord(about.directory)}`;
  const branch = shellWord(about.branch);
  const rebasing = `${git} rebase --onto ${tip.slice(0, 10)} ${newest?.commit.slice(0, 10) ?? ''} ${branch}`;
  const commands = [...(remote === null ? [] : [`git -C ${shellWord(about.root)} fetch ${remote}`]), rebasing].join(
    ' && ',
  );
  return `it has ${count} that ${target} had and lacks now (${list}); to leave ${commits.length === 1 ? 'it' : 'them'} out: ${commands}, then: pawl change open ${branch}`;
}
