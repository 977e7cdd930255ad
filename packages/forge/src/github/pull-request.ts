import type { ForgeChange } from '@pawl/core/port/forge';
import * as z from 'zod';
import { checksOf, statusCheckSchema } from './status-check.ts';

/** A deleted user has no login. */
const actor = z.object({ login: z.string() }).nullable();

/** The requested fields of a pull request. */
export const pullRequestSchema = z.object({
  number: z.number().int().positive(),
  url: z.string(),
  state: z.enum(['OPEN', 'MERGED', 'CLOSED']),
  title: z.string(),
  body: z.string(),
  author: actor,
  headRefName: z.string(),
  headRefOid: z.string().regex(/^[0-9a-f]{40,64}$/),
  headRepositoryOwner: actor,
  isCrossRepository: z.boolean(),
  baseRefName: z.string(),
  isDraft: z.boolean(),
  labels: z.array(z.object({ name: z.string() })).nullable(),
  mergeable: z.string(),
  mergeCommit: z.object({ oid: z.string() }).nullable(),
  reviewDecision: z.string().nullable(),
  reviews: z.array(z.object({ author: actor, authorAssociation: z.string(), state: z.string() })).nullable(),
  statusCheckRollup: z.array(statusCheckSchema).nullable(),
});
type PullRequest = z.infer<typeof pullRequestSchema>;

export const pullRequestFields = Object.keys(pullRequestSchema.shape).join(',');

/** Converts a pull request to a change. */
export function toForgeChange(pull: PullRequest): ForgeChange {
  const objectors = objectorsOf(pull);
  return {
    ref: String(pull.number),
    url: pull.url,
    branch: pull.headRefName,
    fork: pull.isCrossRepository ? (pull.headRepositoryOwner?.login ?? '') : null,
    head: pull.headRefOid,
    base: pull.baseRefName,
    title: pull.title,
    body: pull.body,
    author: pull.author?.login ?? '',
    state: pull.state === 'OPEN' ? 'open' : pull.state === 'MERGED' ? 'merged' : 'closed',
    draft: pull.isDraft,
    labels: (pull.labels ?? []).map(({ name }) => name),
    review: reviewOf(pull, objectors),
    objectors,
    mergeable: pull.mergeable === 'MERGEABLE' ? 'yes' : pull.mergeable === 'CONFLICTING' ? 'no' : 'unknown',
    checks: checksOf(pull.statusCheckRollup ?? []),
    mergedCommit: pull.state === 'MERGED' ? (pull.mergeCommit?.oid ?? null) : null,
  };
}

/** Whose review counts: anybody may review a public repository. */
const members = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

/**
 * Reviewers who requested changes, and have neither approved nor been dismissed since. A plain comment changes nothing.
 */
function objectorsOf({ reviews }: PullRequest): string[] {
  const last = new Map<string, string>();
  for (const { author, authorAssociation, state } of reviews ?? []) {
    if (author === null || !members.has(authorAssociation)) continue;
    if (['APPROVED', 'CHANGES_REQUESTED', 'DISMISSED'].includes(state)) last.set(author.login, state);
  }
  return [...last].filter(([, state]) => state === 'CHANGES_REQUESTED').map(([login]) => login);
}

/** GitHub itself blocks only if reviews are required; an objection counts everywhere. */
function reviewOf({ reviewDecision }: PullRequest, objectors: readonly string[]): ForgeChange['review'] {
  if (objectors.length > 0 || reviewDecision === 'CHANGES_REQUESTED') return 'changes_requested';
  if (reviewDecision === 'APPROVED') return 'approved';
  return reviewDecision === 'REVIEW_REQUIRED' ? 'required' : 'none';
}
