import type { ForgeMerge, MergeRequest } from '@pawl/core/port/forge';
import type { Gh } from './gh.ts';
import { complaintOf, ghFailed } from './gh-failure.ts';

type Refusal = { pattern: RegExp; why: Extract<ForgeMerge, { do: 'refused' }>['why'] };

/** Refusals that are an answer: the merge did not happen, for this reason. The first match counts. */
const refusals: Refusal[] = [
  { pattern: /Head branch was modified|head sha/i, why: 'head-moved' },
  { pattern: /Base branch was modified/i, why: 'base-moved' },
  { pattern: /still a draft|draft state/i, why: 'draft' },
  { pattern: /cannot be cleanly created|merge conflict|cannot be rebased/i, why: 'conflict' },
  {
    pattern:
      /policy prohibits|not up to date|protected branch|required status|approving review|(?:merges|commits) are not allowed|rule violations|already queued/i,
    why: 'policy',
  },
  { pattern: /not mergeable/i, why: 'conflict' },
];

/**
 * Requests the merge of exactly this head; never with administrator privileges. Null if `gh` reports no error, which
 * does not yet mean that it is merged.
 */
export async function requestMerge(
  gh: Gh,
  slug: string,
  ref: string,
  { head, method, subject, body }: MergeRequest,
): Promise<ForgeMerge | null> {
  const words = ['pr', 'merge', ref, `--repo=${slug}`, `--${method}`, `--match-head-commit=${head}`];
  // A rebase keeps the commit messages.
  const message = method === 'rebase' ? [] : [`--subject=${subject}`, '--body-file=-'];
  const output = await gh([...words, ...message], method === 'rebase' ? undefined : body);
  if (output.exitCode === 0) return null;
  const complaint = complaintOf(output.stderr);
  const refusal = refusals.find(({ pattern }) => pattern.test(complaint));
  if (refusal === undefined) throw ghFailed(words, output);
  return { do: 'refused', why: refusal.why, reason: complaint.split('\n')[0] ?? '' };
}
