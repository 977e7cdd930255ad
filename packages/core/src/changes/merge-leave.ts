import type { Change } from '@pawl/schema/change';
import type { Checkout } from '@pawl/schema/project-config';
import { shellWord } from '@pawl/schema/shell-word';

/** The facts that decide whether a change may be merged: the project's configuration, and a person's leave for the project. */
export type MergeRules = {
  /** The target branch. */
  branch: string;
  /** Where the configuration was read. Only a commit of the target branch lets anything be merged. */
  source: 'commit' | 'checkout' | 'none';
  checkout: Checkout | null;
  auto: boolean;
  /** The remote whose branch a merge moves; null when there is none. */
  remote: string | null;
  /** A person allowed pushing for this project. */
  pushAllowed: boolean;
};

/** `granted`: it is merged when its checks pass. Otherwise what is missing. */
export type MergeLeave = 'granted' | 'not-committed' | 'not-asked' | 'push-not-allowed';

/**
 * Decides whether a change may be merged once its checks pass. A person who asks for a change allows its push, too. The
 * asking counts for the head that it was about: a change that moves on has to be asked for again.
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

/** Whether a person asked for this head to be merged. */
export function isAskedFor({ head, askedHead }: Pick<Change, 'head' | 'askedHead'>): boolean {
  return askedHead === head;
}

/** Whether a change's commits may be sent to a remote. */
export function mayPush(change: Pick<Change, 'head' | 'askedHead'>, pushAllowed: boolean): boolean {
  return pushAllowed || isAskedFor(change);
}

/** Describes a change that passes its checks and waits for a person, with the command that goes on. */
export function readyDetail({ id }: Pick<Change, 'id'>, leave: MergeLeave, rules: MergeRules): string {
  const merge = `\`pawl change merge ${id.slice(0, 8)}\``;
  const reason = readyReason(leave, rules);
  if (leave === 'not-committed') return reason;
  return leave === 'push-not-allowed' ? `${reason}, or merge this one: ${merge}` : `${reason}; ${merge}`;
}

/** Describes why such a change waits, without the command that merges it. */
export function readyReason(leave: MergeLeave, rules: MergeRules): string {
  if (leave === 'not-committed') return `passes its checks; nothing is merged: ${notCommitted(rules)}`;
  return leave === 'push-not-allowed' ? `passes its checks; ${pushNotAllowed(rules)}` : 'passes its checks';
}

const configPath = '.pawl/config.yaml';

/** Says that the configuration has to be committed first, with the commands that do it from where the checkout is. */
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
  // A file that is committed here is not carried along by the switch.
  const take = checkout.hasFile ? `git checkout ${here} -- ${configPath}` : add;
  return [`git switch ${branch}`, take, commit, ...push, back];
}

function pushNotAllowed({ branch, remote }: Pick<MergeRules, 'branch' | 'remote'>): string {
  return `pushing to ${remote ?? 'the remote'}/${branch} has to be allowed once: \`pawl queue allow-push\``;
}

/** The reasons why nothing in a queue is merged automatically, as lines for a person. */
export function queueAdvice(rules: MergeRules & { enabled: boolean; hasChecks: boolean }): string[] {
  if (!rules.enabled || !rules.hasChecks) return [];
  if (rules.source === 'checkout') return [`nothing is merged: ${notCommitted(rules)}`];
  if (!rules.auto || rules.remote === null || rules.pushAllowed) return [];
  return [pushNotAllowed(rules)];
}
