import type { Finding, TestCount } from '@pawl/schema/change';
import { compareCounts, notAccepted } from '../guard/test-count.ts';

/** What is known of one tree. */
export type Evidence = {
  /** It passed, at least once. */
  isGreen: boolean;
  /** How often it has failed since, and from when on. */
  reds: number;
  redSince: number | null;
  /** When it passed last. */
  greenAt: number | null;
  isRunning: boolean;
  /** Of the run that passed. */
  counts: TestCount | null;
};

/** A change as the queue's chain has it: main, with all changes up to this one. */
export type Link = {
  tree: string;
  /** It is in the chain by itself, because it may be the one that fails, or makes the gate weaker. */
  isAlone: boolean;
  /** What it does to the gate, as far as a person has accepted it. */
  accepted: readonly Finding[];
};

export type QueueFacts = {
  main: string;
  /** The changes that may go in, in their order; none that conflicts. */
  links: readonly Link[];
  evidence(tree: string): Evidence;
  /** How many changes go through one check. */
  batch: number;
  /** How many checks may run at once, and do. */
  places: number;
  running: number;
  /** How many tests ran at the last green main; null when main was never seen green. */
  lastGreen: { counts: TestCount | null } | null;
  /** Somebody wants to know whether main passes. */
  isAsked: boolean;
  /** Whether main is known to be red: at this very commit, or at one that it was at before. */
  alarm: 'none' | 'here' | 'before';
  /** The alarm stands, whatever our own checks say: a forge's CI has found main red, and has not said otherwise yet. */
  isAlarmKept: boolean;
};

/** What is to be done next. Checks may be several; anything else is one step, after which the facts are looked at anew. */
export type QueueStep =
  /** Main itself is red. */
  | { do: 'sound-alarm' }
  /** Main is green again. */
  | { do: 'end-alarm' }
  /** Main moves to the chain's commit after so many links. */
  | { do: 'advance'; length: number }
  /** It goes to the end of the queue, to be checked by itself there: without it the others may pass. */
  | { do: 'set-aside'; index: number }
  /** These are looked at one by one from now on. */
  | { do: 'separate'; length: number }
  | { do: 'eject'; index: number }
  | { do: 'question'; index: number; findings: Finding[] }
  | { do: 'check'; what: 'main' | number }
  /** Checks of longer chains have become pointless. */
  | { do: 'cancel-beyond'; length: number };

/**
 * Decides what a queue does next, from facts alone: so a queue that was killed goes on where it was.
 *
 * P(0) is main, P(k) the tree with the first k changes. As far as P(k) is green, main may go there. When P(n) is red, halves
 * between the longest green and the shortest red chain are checked, until the change is found that makes the difference.
 * That one is set aside, so that the others need not wait, and comes again by itself at the end: there it has to fail twice
 * before it is ejected. So a failure that comes and goes ejects nothing, and of 16 changes a bad one takes seven checks.
 */
export function planQueue(facts: QueueFacts): QueueStep[] {
  const main = facts.evidence(facts.main);
  if (!main.isGreen && main.reds >= 2 && facts.alarm !== 'here') return [{ do: 'sound-alarm' }];
  if (main.isGreen && facts.alarm !== 'none' && !facts.isAlarmKept) return [{ do: 'end-alarm' }];
  const chain = facts.links.map(({ tree }) => facts.evidence(tree));
  const green = chain.findLastIndex(({ isGreen }) => isGreen) + 1;
  if (green > 0) return passGate(facts, main, green);
  const red = chain.findIndex(({ reds }) => reds > 0) + 1;
  if (red === 0) return start(facts, wanted(facts, main, chain));
  if (chain.some(({ isRunning }, index) => isRunning && index + 1 > red)) return [{ do: 'cancel-beyond', length: red }];
  return search(facts, main, chain, red);
}

/** A green chain goes in, unless it makes the gate weaker. Where nothing is known to compare it with, main is checked first. */
function passGate(facts: QueueFacts, main: Evidence, length: number): QueueStep[] {
  const link = facts.links[length - 1];
  if (link === undefined) return [];
  const { counts } = facts.evidence(link.tree);
  const before = main.isGreen ? { counts: main.counts } : facts.lastGreen;
  if (before === null && (counts === null || facts.alarm === 'here')) return [{ do: 'advance', length }];
  if (before === null) return start(facts, [{ what: 'main', evidence: main }]);
  const findings = notAccepted(compareCounts(before.counts, counts), length === 1 ? link.accepted : []);
  if (findings.length === 0) return [{ do: 'advance', length }];
  return [length === 1 ? { do: 'question', index: 0, findings } : { do: 'separate', length }];
}

type Target = { what: 'main' | number; evidence: Evidence };

/**
 * What should be checked while nothing is red: the chain, in steps of one batch, and a main that somebody else has moved, or
 * that was never seen green: beside the first batch, which is compared with it, so that the first change waits for one check.
 */
function wanted(facts: QueueFacts, main: Evidence, chain: readonly Evidence[]): Target[] {
  const isKnown = main.isGreen || (facts.alarm === 'here' && (!facts.isAsked || main.reds >= 2));
  const isSeen = facts.lastGreen !== null || facts.alarm !== 'none' || main.reds > 0;
  const isNeeded = !isKnown && (facts.isAsked || isSeen || chain.length > 0);
  const own: Target[] = isNeeded ? [{ what: 'main', evidence: main }] : [];
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
  return [...ends.slice(0, 1), ...own, ...ends.slice(1)];
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
function search(facts: QueueFacts, main: Evidence, chain: readonly Evidence[], red: number): QueueStep[] {
  const half = Math.floor(red / 2);
  const middle = chain[half - 1];
  if (middle !== undefined) return start(facts, [{ what: half, evidence: middle }]);
  const [first] = chain;
  if (first === undefined) return [];
  if (facts.links[0]?.isAlone !== true) return [{ do: 'set-aside', index: 0 }];
  if (first.reds < 2) return start(facts, [{ what: 1, evidence: first }]);
  // Nobody is accused of what main, or the machine, may have done: main has to have passed since the first failure.
  const isAccused = facts.alarm === 'here' || (main.isGreen && (main.greenAt ?? 0) >= (first.redSince ?? Infinity));
  if (isAccused) return [{ do: 'eject', index: 0 }];
  return start(facts, [{ what: 'main', evidence: { ...main, isGreen: false } }]);
}
