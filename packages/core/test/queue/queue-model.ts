import { planQueue } from '../../src/queue/queue-plan.ts';
import type { TreeResults, QueueStep } from '../../src/queue/queue-plan.ts';

/** A change of the model: its effect on every tree that has it. */
export type ModelChange = {
  id: number;
  /** Trees with it always fail. */
  isBad: boolean;
  /** Trees with two changes of one group fail. */
  group: number | null;
  /** The first check of a tree with it fails. */
  isFlaky: boolean;
};

export type Outcome = {
  main: ModelChange[];
  ejected: ModelChange[];
  /** All positions of main, in order. */
  history: ModelChange[][];
  /** Checks that ran, and how many of them were of main itself. */
  checks: number;
  /** Moments at which at least one check was awaited. */
  rounds: number;
};

type Tree = {
  changes: ModelChange[];
  reds: number;
  greens: number;
  isRunning: boolean;
  greenAt: number | null;
  redSince: number | null;
};

const unknownTree = { reds: 0, greens: 0, isRunning: false, greenAt: null, redSince: null };

export const passes = (changes: readonly ModelChange[]): boolean => {
  const groups = changes.map(({ group }) => group).filter((group) => group !== null);
  return !changes.some(({ isBad }) => isBad) && new Set(groups).size === groups.length;
};

/** Runs a queue on a model of trees until it has nothing to do. `choose` picks the running check that ends next. */
export function runQueue(
  arrivals: readonly ModelChange[],
  options: {
    batch: number;
    places: number;
    choose?: (running: number) => number;
    atOnce?: number;
    /** No check has passed on main yet. */
    isNew?: boolean;
  },
): Outcome {
  const { batch, places, choose = () => 0 } = options;
  const trees = new Map<string, Tree>();
  const treeOf = (changes: readonly ModelChange[]): string => {
    const key = changes
      .map(({ id }) => id)
      .toSorted((a, b) => a - b)
      .join(' ');
    if (!trees.has(key)) trees.set(key, { changes: [...changes], ...unknownTree });
    return key;
  };
  const coming = [...arrivals];
  const waiting: ModelChange[] = coming.splice(0, options.atOnce ?? coming.length);
  const outcome: Outcome = { main: [], ejected: [], history: [[]], checks: 0, rounds: 0 };
  /** Those set aside: each is checked alone when it comes first. */
  const aside: ModelChange[] = [];
  let isChecked = options.isNew !== true;
  let now = 0;

  const evidence = (tree: string): TreeResults => {
    const { reds, greens, isRunning, greenAt, redSince } = trees.get(tree) ?? unknownTree;
    return { isGreen: greens > 0, greenAt, reds: greens > 0 ? 0 : reds, redSince, isRunning, counts: null };
  };
  if (isChecked) trees.set(treeOf([]), { changes: [], ...unknownTree, greens: 1, greenAt: now });
  const running = () => [...trees.values()].filter(({ isRunning }) => isRunning);
  const finishOne = () => {
    const open = running();
    const tree = open[choose(open.length) % open.length];
    if (tree === undefined) throw new Error('nothing runs, and nothing is decided');
    tree.isRunning = false;
    const stumbles = tree.changes.some(({ isFlaky }) => isFlaky) && tree.reds === 0;
    now++;
    if (passes(tree.changes) && !stumbles) {
      tree.greens++;
      tree.greenAt = now;
    } else {
      tree.reds++;
      tree.redSince ??= now;
    }
    if (tree.changes.length === 0 && tree.greens > 0) isChecked = true;
  };

  for (let steps = 0; steps < 20_000; steps++) {
    const alone = waiting.length === 0 ? aside.slice(0, 1) : [];
    const queue = alone.length === 0 ? waiting : alone;
    const chain = queue.map((_, index) => [...outcome.main, ...queue.slice(0, index + 1)]);
    const plan: QueueStep[] = planQueue({
      main: treeOf(outcome.main),
      links: chain.map((changes) => ({ tree: treeOf(changes), isAlone: alone.length > 0, accepted: [] })),
      evidence,
      batch,
      places,
      running: running().length,
      lastGreen: isChecked ? { counts: null } : null,
      isAsked: false,
      alarm: 'none',
      isAlarmKept: false,
    });
    const [step] = plan;
    if (step === undefined) {
      if (running().length === 0) {
        const next = coming.shift();
        if (next !== undefined) waiting.push(next);
        else if (queue.length === 0) return outcome;
        else throw new Error('the queue is stuck');
        continue;
      }
      outcome.rounds++;
      finishOne();
      const next = coming.shift();
      if (next !== undefined) waiting.push(next);
      continue;
    }
    switch (step.do) {
      case 'check':
        for (const each of plan) {
          if (each.do !== 'check') continue;
          const key = each.what === 'main' ? treeOf(outcome.main) : treeOf(chain[each.what - 1] ?? []);
          const tree = trees.get(key);
          if (tree === undefined || tree.isRunning) throw new Error(`${key} cannot be checked`);
          tree.isRunning = true;
          outcome.checks++;
        }
        break;
      case 'advance':
        outcome.main = chain[step.length - 1] ?? [];
        outcome.history.push(outcome.main);
        (alone.length === 0 ? waiting : aside).splice(0, step.length);
        break;
      case 'set-aside':
        aside.push(...waiting.splice(step.index, 1));
        break;
      case 'eject':
        outcome.ejected.push(...aside.splice(step.index, 1));
        break;
      case 'cancel-beyond':
        for (const changes of chain.slice(step.length)) {
          const tree = trees.get(treeOf(changes));
          if (tree !== undefined) tree.isRunning = false;
        }
        break;
      default:
        throw new Error(`unexpected: ${step.do}`);
    }
  }
  throw new Error('the queue does not come to an end');
}
