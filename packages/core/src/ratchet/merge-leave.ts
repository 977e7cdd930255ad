import type { Change } from '@pawl/schema/change';

/** What decides whether a change may be merged: the project's configuration, and what a person allowed for the project. */
export type MergeRules = {
  /** The target branch. */
  branch: string;
  /** Where the configuration was read. Only a commit of the target branch lets anything be merged. */
  source: 'commit' | 'checkout' | 'none';
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
export function mergeLeave(change: Pick<Change, 'head' | 'askedHead'>, rules: MergeRules): MergeLeave {
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
  if (leave === 'not-committed') return `passes its checks; nothing is merged: ${notCommitted(rules)}`;
  if (leave === 'push-not-allowed') {
    return `passes its checks; ${pushNotAllowed(rules)}, or merge this one: ${merge}`;
  }
  return `passes its checks; ${merge}`;
}

/** Says that the configuration has to be committed first, with the commands. */
export function notCommitted({ branch, remote }: Pick<MergeRules, 'branch' | 'remote'>): string {
  const commands = [
    'git add .pawl/config.yaml',
    'git commit -m "chore: add the checks" .pawl/config.yaml',
    ...(remote === null ? [] : [`git push ${remote} ${branch}`]),
  ];
  return `\`.pawl/config.yaml\` is not committed on ${branch}: ${commands.map((each) => `\`${each}\``).join(', ')}`;
}

function pushNotAllowed({ branch, remote }: Pick<MergeRules, 'branch' | 'remote'>): string {
  return `pushing to ${remote ?? 'the remote'}/${branch} needs your word once: \`pawl queue allow-push\``;
}

/** What keeps everything in a queue from being merged by itself, as lines for a person; none where nothing does. */
export function queueAdvice(rules: MergeRules & { enabled: boolean; hasChecks: boolean }): string[] {
  if (!rules.enabled || !rules.hasChecks) return [];
  if (rules.source === 'checkout') return [`nothing is merged: ${notCommitted(rules)}`];
  if (!rules.auto || rules.remote === null || rules.pushAllowed) return [];
  return [pushNotAllowed(rules)];
}
