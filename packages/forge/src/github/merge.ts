import type { ForgeMerge, MergeRequest } from '@pawl/core/port/forge';
import type { Gh } from './gh.ts';
import { complaintOf, ghFailed } from './gh-failure.ts';

type Refusal = { pattern: RegExp; why: Extract<ForgeMerge, { do: 'refused' }>['why'] };

/** Refusals that are an answer: the merge did not happen, and for this reason. The first that fits counts. */
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
 * Asks for the merge of exactly this head; never with an administrator's privileges. Null when `gh` has nothing to
 * object, which does not say yet that it is merged.
 */
export async function requestMerge(
  gh: Gh,
  slug: string,
  ref: string,
  { head, method, subject, body }: MergeRequest,
): Promise<ForgeMerge | null> {
  const words = ['pr', 'merge', ref, `--repo=${slug}`, `--${method}`, `--match-head-commit=${head}`];
  // A rebase keeps the messages of the commits.
  const message = method === 'rebase' ? [] : [`--subject=${subject}`, '--body-file=-'];
  const output = await gh([...words, ...message], method === 'rebase' ? undefined : body);
  if (output.exitCode === 0) return null;
  const complaint = complaintOf(output.stderr);
  const refusal = refusals.find(({ pattern }) => pattern.test(complaint));
  if (refusal === undefined) throw ghFailed(words, output);
  return { do: 'refused', why: refusal.why, reason: complaint.split('\n')[0] ?? '' };
}
