import type { Finding, TestCount } from '@pawl/schema/change';
import { compareCounts, notAccepted } from '../guard/test-count.ts';

/** The check results of one tree. */
export type TreeResults = {
  /** It passed at least once. */
  isGreen: boolean;
  /** Failures since it last passed, and the time of the first. */
  reds: number;
  redSince: number | null;
  /** When it passed last. */
  greenAt: number | null;
  isRunning: boolean;
  /** Test counts of the passing run. */
  counts: TestCount | null;
};

/** One link of the queue's chain: main plus all changes up to this one. */
export type Link = {
  tree: string;
  /** It is checked alone, because it may be the failing one, or weaken the gate. */
  isAlone: boolean;
  /** Findings about its effect on the gate that a person accepted. */
  accepted: readonly Finding[];
};

export type QueueFacts = {
  main: string;
  /** The mergeable changes, in order, without conflicts. */
  links: readonly Link[];
  evidence(tree: string): TreeResults;
  /** Changes per check. */
  batch: number;
  /** How many checks may run at once, and how many do. */
  places: number;
  running: number;
  /** Test counts of the last green main; null if main was never green. */
  lastGreen: { counts: TestCount | null } | null;
  /** A check of main was requested. */
  isAsked: boolean;
  /** Whether main is known to be red: at this commit, or at an earlier one. */
  alarm: 'none' | 'here' | 'before';
  /** The alarm stays on regardless of our own checks: a forge's CI found main red, and has not reported otherwise. */
  isAlarmKept: boolean;
};

/**
 * The next step. Several checks may start at once; any other step stands alone, and the facts are read again after it.
 */
export type QueueStep =
  /** Main itself is red. */
  | { do: 'sound-alarm' }
  /** Main is green again. */
  | { do: 'end-alarm' }
  /** Move main to the chain's commit after this many links. */
  | { do: 'advance'; length: number }
  /** Move it to the end of the queue, to be checked alone: the others may pass without it. */
  | { do: 'set-aside'; index: number }
  /** Check these one by one from now on. */
  | { do: 'separate'; length: number }
  | { do: 'eject'; index: number }
  | { do: 'question'; index: number; findings: Finding[] }
  | { do: 'check'; what: 'main' | number }
  /** Cancel checks of longer chains, which are pointless now. */
  | { do: 'cancel-beyond'; length: number };

/**
 * Decides a queue's next steps from facts alone, so a killed queue resumes where it was.
 * P(0) is main, P(k) the tree with the first k changes. Main may move to any green P(k). If P(n) is red, bisect between
 * the longest green and the shortest red chain to find the change that makes the difference. Set that one aside, so
 * that the others need not wait; it returns alone at the end, where it must fail twice to be ejected. So a flaky
 * failure ejects nothing, and finding one bad change among 16 takes seven checks.
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

/** Merges a green chain unless it weakens the gate. With nothing to compare to, checks main first. */
function passGate(facts: QueueFacts, main: TreeResults, length: number): QueueStep[] {
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

type Target = { what: 'main' | number; evidence: TreeResults };

/**
 * The trees to check while nothing is red: the chain in steps of one batch, and main if somebody else moved it or it
 * was never green. Main is checked beside the first batch, which is compared with it, so that the first change waits
 * for one check only.
 */
function wanted(facts: QueueFacts, main: TreeResults, chain: readonly TreeResults[]): Target[] {
  const isKnown = main.isGreen || (facts.alarm === 'here' && (!facts.isAsked || main.reds >= 2));
  const isSeen = facts.lastGreen !== null || facts.alarm !== 'none' || main.reds > 0;
  const isNeeded = !isKnown && (facts.isAsked || isSeen || chain.length > 0);
  const own: Target[] = isNeeded ? [{ what: 'main', evidence: main }] : [];
  const ends: Target[] = [];
  let from = 0;
  while (from < chain.length) {
    // A running check defines its batch, even if more changes came since.
    const most = Math.min(from + facts.batch, chain.length);
    const running = chain.slice(from, most).findIndex(({ isRunning }) => isRunning);
    const end = running === -1 ? most : from + running + 1;
    const evidence = chain[end - 1];
    if (evidence !== undefined) ends.push({ what: end, evidence });
    from = end;
  }
  return [...ends.slice(0, 1), ...own, ...ends.slice(1)];
}

/** Starts targets that are neither running nor green, as far as there are free places. */
function start(facts: QueueFacts, targets: readonly Target[]): QueueStep[] {
  const free = Math.max(0, facts.places - facts.running);
  return targets
    .filter(({ evidence }) => !evidence.isRunning && !evidence.isGreen)
    .slice(0, free)
    .map(({ what }) => ({ do: 'check', what }));
}

/** Bisects for the change that turns the chain red. */
function search(facts: QueueFacts, main: TreeResults, chain: readonly TreeResults[], red: number): QueueStep[] {
  const half = Math.floor(red / 2);
  const middle = chain[half - 1];
  if (middle !== undefined) return start(facts, [{ what: half, evidence: middle }]);
  const [first] = chain;
  if (first === undefined) return [];
  if (facts.links[0]?.isAlone !== true) return [{ do: 'set-aside', index: 0 }];
  if (first.reds < 2) return start(facts, [{ what: 1, evidence: first }]);
  // Main or the machine may be the cause, so main must have passed since the first failure.
  const isAccused = facts.alarm === 'here' || (main.isGreen && (main.greenAt ?? 0) >= (first.redSince ?? Infinity));
  if (isAccused) return [{ do: 'eject', index: 0 }];
  return start(facts, [{ what: 'main', evidence: { ...main, isGreen: false } }]);
}
