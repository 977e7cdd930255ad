import type { FakeCheck, FakePull, FakeState } from './state.ts';
import { graphql } from './answer.ts';
import { exportFields } from './flags.ts';
import { contains, followHead, mergedTree, tipOf } from './server.ts';

/** The `--json` fields of a pull request. */
export const pullFields = [
  'additions',
  'assignees',
  'author',
  'baseRefName',
  'body',
  'changedFiles',
  'closed',
  'closedAt',
  'comments',
  'commits',
  'createdAt',
  'deletions',
  'files',
  'headRefName',
  'headRefOid',
  'headRepository',
  'headRepositoryOwner',
  'id',
  'isCrossRepository',
  'isDraft',
  'labels',
  'latestReviews',
  'maintainerCanModify',
  'mergeCommit',
  'mergeStateStatus',
  'mergeable',
  'mergedAt',
  'mergedBy',
  'milestone',
  'number',
  'potentialMergeCommit',
  'reactionGroups',
  'reviewDecision',
  'reviewRequests',
  'reviews',
  'state',
  'statusCheckRollup',
  'title',
  'updatedAt',
  'url',
] as const;
type PullField = (typeof pullFields)[number];

/** Finds a pull request by number, URL or branch, like `gh`. */
export function findPull(state: FakeState, selector: string): FakePull {
  const number = /(?:^#?|\/pull\/)(\d+)$/.exec(selector)?.[1];
  const pull =
    number === undefined
      ? state.pulls.findLast(({ branch }) => branch === selector)
      : state.pulls.find((each) => each.number === Number(number));
  if (pull === undefined) {
    if (number === undefined) throw graphql(`no pull requests found for branch "${selector}"`, 'repository');
    throw graphql(`Could not resolve to a PullRequest with the number of ${number}.`, 'repository.pullRequest');
  }
  followHead(state, pull);
  return pull;
}

export function urlOf({ host, owner, name }: FakeState, number: number, kind = 'pull'): string {
  return `https://${host}/${owner}/${name}/${kind}/${number}`;
}

/** The requested fields of a pull request. */
export function showPull(state: FakeState, pull: FakePull, fields: readonly string[]): Record<string, unknown> {
  return exportFields(fields, pullFields, (field) => fieldOf(state, pull, field));
}

function fieldOf(state: FakeState, pull: FakePull, field: PullField): unknown {
  switch (field) {
    case 'number':
    case 'title':
    case 'body':
    case 'state':
      return pull[field];
    case 'url':
      return urlOf(state, pull.number);
    case 'author':
      return { login: pull.author };
    case 'assignees':
      return pull.assignees.map((login) => ({ login }));
    case 'headRefName':
      return pull.branch;
    case 'headRefOid':
      return pull.head;
    case 'headRepositoryOwner':
      return { login: pull.headOwner };
    case 'isCrossRepository':
      return pull.headOwner !== state.owner;
    case 'baseRefName':
      return pull.base;
    case 'isDraft':
      return pull.draft;
    case 'labels':
      return pull.labels.map((name) => ({ id: `LA_${name}`, name, description: '', color: 'ededed' }));
    case 'comments':
      return pull.comments.map(({ login, body }) => ({
        author: { login },
        body,
        viewerDidAuthor: login === state.viewer,
      }));
    case 'reviews':
      return pull.reviews.map(({ login, association, state: word, body }) => ({
        author: { login },
        authorAssociation: association,
        body,
        state: word,
      }));
    case 'reviewDecision':
      return decisionOf(state, pull);
    case 'mergeable':
      return pull.state !== 'OPEN' ? 'UNKNOWN' : conflicts(state, pull) ? 'CONFLICTING' : 'MERGEABLE';
    case 'mergeStateStatus':
      return mergeStateOf(state, pull);
    case 'mergeCommit':
      return pull.mergeCommit === null ? null : { oid: pull.mergeCommit };
    case 'statusCheckRollup':
      return (state.checks[pull.head] ?? []).map((check) => rollupOf(check));
    default:
      return null;
  }
}

function rollupOf({ kind, name, workflow, status, conclusion, startedAt }: FakeCheck): Record<string, unknown> {
  const url = `https://ci.example.invalid/${encodeURIComponent(name)}`;
  if (kind === 'status') {
    return { __typename: 'StatusContext', context: name, state: conclusion, targetUrl: url, startedAt };
  }
  const times = { startedAt, completedAt: status === 'COMPLETED' ? startedAt : '0001-01-01T00:00:00Z' };
  const ended = status === 'COMPLETED' ? conclusion : '';
  return { __typename: 'CheckRun', name, workflowName: workflow, status, conclusion: ended, detailsUrl: url, ...times };
}

/** Empty if no review is required, whatever reviews there are. */
function decisionOf(state: FakeState, pull: FakePull): string {
  const wanted = state.protection?.reviews ?? 0;
  if (wanted === 0) return '';
  const last = new Map<string, string>();
  for (const { login, association, state: word } of pull.reviews) {
    if (['OWNER', 'MEMBER', 'COLLABORATOR'].includes(association) && word !== 'COMMENTED') last.set(login, word);
  }
  const words = [...last.values()];
  if (words.includes('CHANGES_REQUESTED')) return 'CHANGES_REQUESTED';
  return words.filter((word) => word === 'APPROVED').length >= wanted ? 'APPROVED' : 'REVIEW_REQUIRED';
}

function conflicts(state: FakeState, pull: FakePull): boolean {
  const base = tipOf(state, pull.base);
  return base === null || mergedTree(state, base, pull.head) === null;
}

/** The obstacle to a merge, in the server's own words. */
export function mergeStateOf(state: FakeState, pull: FakePull): string {
  if (pull.state === 'MERGED') return 'MERGED';
  if (pull.state === 'CLOSED') return 'UNKNOWN';
  if (conflicts(state, pull)) return 'DIRTY';
  const checks = state.checks[pull.head] ?? [];
  const passed = (name: string) =>
    checks.findLast((check) => check.name === name && check.conclusion === 'SUCCESS') !== undefined;
  const { protection } = state;
  const decision = decisionOf(state, pull);
  if (pull.draft || (protection !== null && !protection.checks.every(passed))) return 'BLOCKED';
  if (decision !== '' && decision !== 'APPROVED') return 'BLOCKED';
  if (protection?.upToDate && !contains(state, pull.head, tipOf(state, pull.base) ?? '')) return 'BEHIND';
  return checks.every(({ conclusion }) => ['SUCCESS', 'SKIPPED', 'NEUTRAL'].includes(conclusion))
    ? 'CLEAN'
    : 'UNSTABLE';
}

/** The checks of a pull request, as in `gh pr checks`. */
export function bucketOf({ kind, status, conclusion }: FakeCheck): { state: string; bucket: string } {
  const state = kind === 'status' || status === 'COMPLETED' ? conclusion : status;
  if (state === 'SUCCESS') return { state, bucket: 'pass' };
  if (state === 'SKIPPED' || state === 'NEUTRAL') return { state, bucket: 'skipping' };
  if (state === 'CANCELLED') return { state, bucket: 'cancel' };
  const failed = ['ERROR', 'FAILURE', 'TIMED_OUT', 'ACTION_REQUIRED'].includes(state);
  return { state, bucket: failed ? 'fail' : 'pending' };
}
