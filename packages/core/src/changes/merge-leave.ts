import type { Change } from '@pawl/schema/change';
import type { Checkout } from '@pawl/schema/project-config';
import { shellWord } from '@pawl/schema/shell-word';

/**
 * The facts that decide whether a change may be merged: the project's configuration, and a person's permission to push.
 */
export type MergeRules = {
  /** The target branch. */
  branch: string;
  /** The source of the configuration. Only a commit on the target branch permits merging. */
  source: 'commit' | 'checkout' | 'none';
  checkout: Checkout | null;
  auto: boolean;
  /** The remote whose branch a merge moves, or null. */
  remote: string | null;
  /** A person allowed pushing for this project. */
  pushAllowed: boolean;
};

/** `granted`: merged when its checks pass. Otherwise the missing condition. */
export type MergeLeave = 'granted' | 'not-committed' | 'not-asked' | 'push-not-allowed';

/**
 * Decides whether a change may be merged once its checks pass. A person's merge request includes the push. It counts
 * for one head: a change with a new head needs a new request.
 */
export function mergeLeave(
  change: Pick<Change, 'head' | 'askedHead'>,
  rules: Pick<MergeRules, 'source' | 'auto' | 'remote' | 'pushAllowed'>,
): MergeLeave {
  if (rules.source !== 'commit') return 'not-committed';
  if (isAskedFor(change)) return 'granted';
  if (!rules.auto) return 'not-asked';
  return rules.remote === null || rules.pushAllowed ? 'granted' : 'push-not-allowed';
}

/** Whether a person requested the merge of this head. */
export function isAskedFor({ head, askedHead }: Pick<Change, 'head' | 'askedHead'>): boolean {
  return askedHead === head;
}

/** Whether a change's commits may be pushed to a remote. */
export function mayPush(change: Pick<Change, 'head' | 'askedHead'>, pushAllowed: boolean): boolean {
  return pushAllowed || isAskedFor(change);
}

/** Describes a change that passes its checks and waits for a person, with the next command. */
export function readyDetail({ id }: Pick<Change, 'id'>, leave: MergeLeave, rules: MergeRules): string {
  const merge = `\`pawl change merge ${id.slice(0, 8)}\``;
  const reason = readyReason(leave, rules);
  if (leave === 'not-committed') return reason;
  return leave === 'push-not-allowed' ? `${reason}, or merge this one: ${merge}` : `${reason}; ${merge}`;
}

/** Says why such a change waits, without the merge command. */
export function readyReason(leave: MergeLeave, rules: MergeRules): string {
  if (leave === 'not-committed') return `passes its checks; nothing is merged: ${notCommitted(rules)}`;
  return leave === 'push-not-allowed' ? `passes its checks; ${pushNotAllowed(rules)}` : 'passes its checks';
}

const configPath = '.pawl/config.yaml';

/** Says that the configuration must be committed first, with the commands to do so from the current checkout. */
export function notCommitted(rules: Pick<MergeRules, 'branch' | 'remote' | 'checkout'>): string {
  const { branch, remote, checkout } = rules;
  const isOnlyUnpushed = remote !== null && checkout?.branch === branch && checkout.hasFile;
  const what = isOnlyUnpushed ? `on ${remote}/${branch}` : `committed on ${branch}`;
  return `\`${configPath}\` is not ${what}: ${commitCommands(rules)
    .map((each) => `\`${each}\``)
    .join(', ')}`;
}

function commitCommands({ branch, remote, checkout }: Pick<MergeRules, 'branch' | 'remote' | 'checkout'>): string[] {
  const push = remote === null ? [] : [`git push ${remote} ${branch}`];
  const commit = `git commit -m "chore: add the checks" ${configPath}`;
  const add = `git add ${configPath}`;
  if (checkout === null || checkout.commit === null) return [add, commit, ...push];
  if (checkout.branch === branch) return checkout.hasFile ? push : [add, commit, ...push];
  const short = checkout.commit.slice(0, 10);
  const here = checkout.branch === null ? short : shellWord(checkout.branch);
  const back = checkout.branch === null ? `git switch --detach ${short}` : `git switch ${here}`;
  // The switch does not carry a committed file along.
  const take = checkout.hasFile ? `git checkout ${here} -- ${configPath}` : add;
  return [`git switch ${branch}`, take, commit, ...push, back];
}

function pushNotAllowed({ branch, remote }: Pick<MergeRules, 'branch' | 'remote'>): string {
  return `pushing to ${remote ?? 'the remote'}/${branch} must be allowed once: \`pawl queue allow-push\``;
}

/** The reasons why nothing in a queue merges automatically, as lines for a person. */
export function queueAdvice(rules: MergeRules & { enabled: boolean; hasChecks: boolean }): string[] {
  if (!rules.enabled || !rules.hasChecks) return [];
  if (rules.source === 'checkout') return [`nothing is merged: ${notCommitted(rules)}`];
  if (!rules.auto || rules.remote === null || rules.pushAllowed) return [];
  return [pushNotAllowed(rules)];
}
