import type { Change } from '@pawl/schema/change';
import type { MergeRules } from './merge-leave.ts';
import { mergeLeave } from './merge-leave.ts';

/** The project rules that decide what happens to an agent's work. */
export type DoneRules = Omit<MergeRules, 'remote'> & {
  enabled: boolean;
  hasChecks: boolean;
  remote: { name: string; /** Without a password. */ url: string } | null;
};

/** `outcome` is for programs, `text` for people; the text completes "when it is done: …". */
export type WhenDone = {
  outcome: 'nothing' | 'checked' | 'merged' | 'merged-and-pushed';
  text: string;
};

/** For a configuration that cannot be read. */
export function whenUnreadable(trouble: string): WhenDone {
  return nothing(`nothing is checked or merged: ${trouble.replace(/\.$/, '')}`);
}

/** For a definition without Patch: its commits are not proposed. */
export function whenWithheld(definition: string): WhenDone {
  return nothing(
    `its commits stay on its branch, since the definition ${definition} has no Patch; \`pawl inbox\` shows them`,
  );
}

/** Says what happens to an agent's branch when the agent is done. The changes of a stand-in are drafts. */
export function whenDone(rules: DoneRules, isStandIn = false): WhenDone {
  const { branch, remote } = rules;
  if (!rules.hasChecks) return nothing('no checks are configured: nothing is merged; add them to .pawl/config.yaml');
  if (!rules.enabled) return nothing('the queue is off in .pawl/config.yaml: nothing is checked or merged');
  if (isStandIn) return nothing('it is a stand-in, so its change is a draft; `pawl change merge` checks and merges it');
  const place = remote === null ? '' : `${remote.name} (${remote.url})`;
  if (rules.source !== 'commit') {
    return checked(`its branch is checked; ${untilCommitted(rules)}`);
  }
  if (!rules.auto) {
    const pushes = remote === null ? '' : `, which pushes ${branch} to ${place}`;
    return checked(`its branch is checked; you merge it with \`pawl change merge\`${pushes}`);
  }
  if (remote === null)
    return { outcome: 'merged', text: `it is merged into ${branch} automatically when its checks pass` };
  if (rules.pushAllowed) {
    const text = `it is merged into ${branch} automatically when its checks pass, and pushed to ${place}`;
    return { outcome: 'merged-and-pushed', text };
  }
  return checked(
    `its branch is checked; pushing ${branch} to ${place} must be allowed: \`pawl queue allow-push\`, or \`pawl change merge\` for this one`,
  );
}

/** With a remote, its branch counts: a file that is committed but not pushed is not there yet. */
function untilCommitted({ branch, remote }: Pick<DoneRules, 'branch' | 'remote'>): string {
  const place = remote === null ? `committed on ${branch}` : `on ${remote.name}/${branch}`;
  return `nothing is merged until .pawl/config.yaml is ${place}`;
}

function nothing(text: string): WhenDone {
  return { outcome: 'nothing', text };
}

function checked(text: string): WhenDone {
  return { outcome: 'checked', text };
}

/** Describes the effect of a merge request, by a person or an agent. */
export function mergeNote(
  change: Pick<Change, 'head' | 'askedHead' | 'mergedAt'>,
  rules: Pick<DoneRules, 'branch' | 'source' | 'auto' | 'remote' | 'pushAllowed'>,
): string {
  const { branch, remote } = rules;
  if (change.mergedAt !== null) return `it is already merged into ${branch}`;
  const leave = mergeLeave(change, { ...rules, remote: remote?.name ?? null });
  if (leave === 'not-committed') return `it is checked; ${untilCommitted(rules)}`;
  if (leave !== 'granted') return 'it is checked; a person merges it: `pawl change merge`';
  const merges = `merges into ${branch} when its checks pass`;
  return remote === null ? merges : `${merges}, and pushes ${branch} to ${remote.name} (${remote.url})`;
}
