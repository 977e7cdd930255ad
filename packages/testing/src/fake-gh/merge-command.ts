import { Complaint, graphql, usage } from './answer.ts';
import type { Call, Command } from './command.ts';
import { bodyOf, mustWrite, onePull } from './command.ts';
import { findPull, mergeStateOf } from './pull.ts';
import { makeMerge, moveBranch, tipOf } from './server.ts';

const methods = ['merge', 'rebase', 'squash'] as const;

/** Why a pull request in this state is not merged, except by an administrator. */
const blocked: Record<string, string> = {
  BLOCKED: 'the base branch policy prohibits the merge',
  BEHIND: 'the head branch is not up to date with the base branch',
  DIRTY: 'the merge commit cannot be cleanly created',
};

/** `gh pr merge`. */
export const mergePull: Command = {
  flags: {
    admin: 'switch',
    auto: 'switch',
    'disable-auto': 'switch',
    'delete-branch,d': 'switch',
    'merge,m': 'switch',
    'rebase,r': 'switch',
    'squash,s': 'switch',
    'subject,t': 'text',
    'body,b': 'text',
    'body-file,F': 'text',
    'match-head-commit': 'text',
    'author-email,A': 'text',
  },
  takesRepo: true,
  words: { ...onePull, complaint: 'argument required when using the --repo flag' },
  run: merge,
};

function merge(call: Call): string {
  const { state, flags } = call;
  const chosen = methods.filter((each) => flags.has(each));
  if (chosen.length > 1) throw usage('only one of --merge, --rebase, or --squash can be enabled', 'pr merge');
  const pull = findPull(state, flags.words[0] ?? '');
  const name = `${state.owner}/${state.name}#${pull.number}`;
  // It accepts a pull request that was merged before, at any head.
  if (pull.state === 'MERGED') return '';
  const status = mergeStateOf(state, pull);
  if (!state.mergeQueue && blocked[status] !== undefined && !(pull.draft && status === 'BLOCKED')) {
    const way = 'To have the pull request merged after all the requirements have been met, add the `--auto` flag.';
    throw new Complaint(`X Pull request ${name} is not mergeable: ${blocked[status]}.\n${way}`);
  }
  const [method] = chosen;
  if (method === undefined && !state.mergeQueue) {
    throw usage('--merge, --rebase, or --squash required when not running interactively', 'pr merge');
  }
  mustWrite(state, 'MergePullRequest');
  const refuse = (reason: string) => graphql(reason, 'mergePullRequest');
  if (pull.state === 'CLOSED') throw refuse('Pull request is closed');
  const expected = flags.text('match-head-commit');
  if (expected !== undefined && expected !== pull.head) {
    throw refuse('Head branch was modified. Review and try the merge again.');
  }
  if (state.mergeQueue || method === undefined) return '';
  if (pull.draft) throw refuse('Pull Request is still a draft');
  if (!state.methods.includes(method)) {
    const word = method === 'merge' ? 'Merge commits' : method === 'squash' ? 'Squash merges' : 'Rebase merges';
    throw refuse(`${word} are not allowed on this repository.`);
  }
  const onto = tipOf(state, pull.base) ?? '';
  const subject = flags.text('subject') ?? `${pull.title} (#${pull.number})`;
  const message = `${subject}\n\n${bodyOf(call) ?? ''}\n`;
  const commit = makeMerge(state, { head: pull.head, onto, method, message });
  if (commit === null) throw refuse('Pull Request is not mergeable');
  if (!moveBranch(state, pull.base, commit, onto)) {
    throw refuse('Base branch was modified. Review and try the merge again.');
  }
  pull.state = 'MERGED';
  pull.mergeCommit = commit;
  return '';
}
