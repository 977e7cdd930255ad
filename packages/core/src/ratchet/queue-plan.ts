import type { Finding, TestCount } from '@pawl/schema/change';
import { compareCounts } from './test-count.ts';

/** What is known of one tree. */
export type Evidence = {
  /** It passed, at least once. */
  isGreen: boolean;
  /** How often it failed. */
  reds: number;
  isRunning: boolean;
  /** Of the run that passed. */
  counts: TestCount | null;
};

/** A change as the queue's chain has it: main, with all changes up to this one. */
export type Link = { tree: string; isIsolated: boolean; isApproved: boolean };

export type QueueFacts = {
  main: string;
  /** The changes that may go in, in their order; none that conflicts. */
  links: readonly Link[];
  evidence(tree: string): Evidence;
  /** The tree of all links up to `end` but for the one at `index`; null when it is not known yet, or they conflict. */
  treeWithout: { index: number; end: number; tree: string | null } | null;
  /** How many changes go through one check. */
  batch: number;
  /** How many checks may run at once. */
  places: number;
  running: number;
  /** Tests of this project have failed and passed at the same tree lately. */
  isFlaky: boolean;
  /** How many tests ran at the last green main; null when that was never checked. */
  lastGreen: { counts: TestCount | null } | null;
  isEmergency: boolean;
};

/** What is to be done next. Several of it may be asked for at once; each is one step, after which the facts are looked at anew. */
export type QueueStep =
  /** Main itself is red. */
  | { do: 'sound-alarm' }
  /** Main is green again. */
  | { do: 'end-alarm' }
  /** Main moves to the chain's commit after so many links. */
  | { do: 'advance'; length: number }
  | { do: 'eject'; index: number }
  /** These are looked at one by one from now on. */
  | { do: 'isolate'; length: number }
  | { do: 'question'; index: number; findings: Finding[] }
  /** Work out the tree of the links up to `end` without the one at `index`. */
  | { do: 'leave-out'; index: number; end: number }
  | { do: 'check'; what: 'main' | 'without' | number }
  /** Checks of longer chains have become pointless. */
  | { do: 'cancel-beyond'; length: number };

/**
 * Decides what a queue does next, from facts alone: so a queue that was killed goes on where it was.
 *
 * P(0) is main, P(k) the tree with the first k changes. As far as P(k) is green, main may go there. When P(n) is red, the
 * halves between the longest green and the shortest red chain are checked, until the change is found that makes the
 * difference. It is put out when its chain has failed twice, or when two chains with it have failed and all the others
 * pass without it: a failure that comes and goes puts nobody out.
 */
export function planQueue(facts: QueueFacts): QueueStep[] {
  const main = facts.evidence(facts.main);
  if (!main.isGreen && main.reds >= 2 && !facts.isEmergency) return [{ do: 'sound-alarm' }];
  if (main.isGreen && facts.isEmergency) return [{ do: 'end-alarm' }];
  const chain = facts.links.map(({ tree }) => facts.evidence(tree));
  const green = chain.findLastIndex(({ isGreen }) => isGreen) + 1;
  if (green > 0) {
    const step = passGate(facts, main, green);
    if (step !== null) return [step];
  }
  const red = firstRed(chain, green);
  if (red === null) return start(facts, wanted(facts, main, chain));
  const pointless = chain.some((each, index) => index + 1 > red && each.isRunning);
  if (pointless) return [{ do: 'cancel-beyond', length: red }];
  return search(facts, main, chain, { green, red });
}

/** A green chain goes in, unless it makes the gate weaker; null as long as there is nothing to compare it with. */
function passGate(facts: QueueFacts, main: Evidence, length: number): QueueStep | null {
  const before = main.isGreen ? { counts: main.counts } : facts.lastGreen;
  if (before === null) return facts.isEmergency ? { do: 'advance', length } : null;
  const link = facts.links[length - 1];
  if (link === undefined) return null;
  if (length === 1 && link.isApproved) return { do: 'advance', length };
  const findings = compareCounts(before.counts, facts.evidence(link.tree).counts);
  if (findings.length === 0) return { do: 'advance', length };
  return length === 1 ? { do: 'question', index: 0, findings } : { do: 'isolate', length };
}

function firstRed(chain: readonly Evidence[], green: number): number | null {
  const index = chain.findIndex((each, at) => at >= green && !each.isGreen && each.reds > 0);
  return index === -1 ? null : index + 1;
}

type Target = { what: 'main' | 'without' | number; evidence: Evidence };

/** What should be checked while nothing is red: main where it is unknown, and the chain, in steps of one batch. */
function wanted(facts: QueueFacts, main: Evidence, chain: readonly Evidence[]): Target[] {
  const own: Target[] = main.isGreen || (facts.isEmergency && main.reds >= 2) ? [] : [{ what: 'main', evidence: main }];
  const ends: Target[] = [];
  let from = 0;
  while (from < chain.length) {
    // What runs already is one batch, whatever has come since.
    const most = Math.min(from + facts.batch, chain.length);
    const running = chain.slice(from, most).findIndex(({ isRunning }) => isRunning);
    const end = running === -1 ? most : from + running + 1;
    const evidence = chain[end - 1];
    if (evidence !== undefined) ends.push({ what: end, evidence });
    from = end;
  }
  const [first, ...others] = ends;
  if (first === undefined) return own;
  // Where main was green once, the next step does not wait for it to be checked again.
  return facts.lastGreen === null ? [...own, first, ...others] : [first, ...own, ...others];
}

/** Starts what neither runs nor has passed, as far as there are places. */
function start(facts: QueueFacts, targets: readonly Target[]): QueueStep[] {
  const free = Math.max(0, facts.places - facts.running);
  return targets
    .filter(({ evidence }) => !evidence.isRunning && !evidence.isGreen)
    .slice(0, free)
    .map(({ what }) => ({ do: 'check', what }));
}

/** Looks for the change that turns the chain red. */
function search(
  facts: QueueFacts,
  main: Evidence,
  chain: readonly Evidence[],
  { green, red }: { green: number; red: number },
): QueueStep[] {
  // Nobody is accused of what main may have done.
  if (green === 0 && !main.isGreen && !facts.isEmergency) return start(facts, [{ what: 'main', evidence: main }]);
  if (red - green > 1) {
    const middle = Math.floor((green + red) / 2);
    const evidence = chain[middle - 1];
    return evidence === undefined ? [] : start(facts, [{ what: middle, evidence }]);
  }
  const accused = chain[red - 1];
  if (accused === undefined) return [];
  if (accused.reds >= 2) return [{ do: 'eject', index: red - 1 }];
  const again = start(facts, [{ what: red, evidence: accused }]);
  const end = chain.findLastIndex(({ isGreen, reds }) => !isGreen && reds > 0) + 1;
  if (facts.isFlaky || end === red) return again;
  const { treeWithout: rest } = facts;
  if (rest?.index !== red - 1 || rest.end !== end) return [{ do: 'leave-out', index: red - 1, end }];
  if (rest.tree === null) return again;
  const others = facts.evidence(rest.tree);
  if (others.isGreen) return [{ do: 'eject', index: red - 1 }];
  return others.reds > 0 ? again : start(facts, [{ what: 'without', evidence: others }]);
}
