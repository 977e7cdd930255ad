import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Finding } from '@pawl/schema/change';
import type { TreeResults, Link, QueueFacts } from '../../src/queue/queue-plan.ts';
import { planQueue } from '../../src/queue/queue-plan.ts';
import type { ModelChange } from './queue-model.ts';
import { passes, runQueue } from './queue-model.ts';

const good = (id: number): ModelChange => ({ id, isBad: false, group: null, isFlaky: false });
const many = (count: number) => Array.from({ length: count }, (_, index) => good(index + 1));
const ids = (changes: readonly ModelChange[]) => changes.map(({ id }) => id);

test('16 good changes take one check', () => {
  const outcome = runQueue(many(16), { batch: 16, places: 2 });
  expect(ids(outcome.main)).toEqual(ids(many(16)));
  expect(outcome).toMatchObject({ checks: 1, ejected: [] });
});

test.each(many(16).map(({ id }) => id))(
  'of 16 changes the bad one, number %i, is found with at most 7 checks',
  (bad) => {
    const changes = many(16).map((change) => ({ ...change, isBad: change.id === bad }));
    for (const places of [1, 2, 8]) {
      const outcome = runQueue(changes, { batch: 16, places });
      expect(ids(outcome.ejected)).toEqual([bad]);
      expect(outcome.main).toHaveLength(15);
      expect(outcome.checks).toBeLessThanOrEqual(7);
    }
  },
);

test('a main that never passed a check is checked beside the first batch', () => {
  expect(runQueue(many(16), { batch: 16, places: 2, isNew: true })).toMatchObject({ checks: 2, ejected: [] });
  const plan = planQueue(factsOf({}, { links: [link('one')], lastGreen: null }));
  expect(plan).toEqual([
    { do: 'check', what: 1 },
    { do: 'check', what: 'main' },
  ]);
});

test('a failure that happens once ejects nothing', () => {
  for (const flaky of [1, 5, 16]) {
    const changes = many(16).map((change) => ({ ...change, isFlaky: change.id === flaky }));
    const outcome = runQueue(changes, { batch: 16, places: 2 });
    expect(outcome.ejected).toEqual([]);
    expect(outcome.main).toHaveLength(16);
  }
});

test('more changes than one batch are checked at the same time, each batch on top of the one before', () => {
  const outcome = runQueue(many(64), { batch: 16, places: 8 });
  expect(outcome.main).toHaveLength(64);
  expect(outcome.checks).toBe(4);
});

const change = fc.record({
  isBad: fc.boolean().map((value) => value),
  group: fc.option(fc.integer({ min: 1, max: 3 }), { nil: null }),
  isFlaky: fc.boolean(),
  kind: fc.integer({ min: 0, max: 9 }),
});

test('for any changes, main passes at every step, and everything that fits is merged once', () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 24 }),
      fc.record({
        batch: fc.integer({ min: 1, max: 16 }),
        places: fc.integer({ min: 1, max: 4 }),
        atOnce: fc.integer({ min: 1, max: 24 }),
        isNew: fc.boolean(),
      }),
      fc.infiniteStream(fc.nat(3)),
      (drawn, options, picks) => {
        const changes = drawn.map(({ kind, ...each }, index) => ({
          id: index + 1,
          isBad: kind < 2 && each.isBad,
          group: kind === 3 ? each.group : null,
          isFlaky: kind === 4 && each.isFlaky,
        }));
        const outcome = runQueue(changes, { ...options, choose: () => picks.next().value ?? 0 });
        for (const state of outcome.history) expect(passes(state)).toBe(true);
        expect(new Set(ids(outcome.main)).size).toBe(outcome.main.length);
        expect(outcome.main.length + outcome.ejected.length).toBe(changes.length);
        // An ejected change could not be merged now either.
        for (const each of outcome.ejected) expect(passes([...outcome.main, each])).toBe(false);
      },
    ),
    { numRuns: 500 },
  );
});

const unknown: TreeResults = {
  isGreen: false,
  greenAt: null,
  reds: 0,
  redSince: null,
  isRunning: false,
  counts: null,
};
const green = (run?: number): TreeResults => ({
  ...unknown,
  isGreen: true,
  greenAt: 5,
  counts: run === undefined ? null : { run, failed: 0, skipped: 0 },
});
const red = (reds: number, redSince = 1): TreeResults => ({ ...unknown, reds, redSince });
const link = (tree: string, more: Partial<Link> = {}): Link => ({ tree, isAlone: false, accepted: [], ...more });

function factsOf(known: Record<string, TreeResults>, more: Partial<QueueFacts> = {}): QueueFacts {
  return {
    main: 'main',
    links: [],
    evidence: (tree) => known[tree] ?? unknown,
    batch: 16,
    places: 2,
    running: 0,
    lastGreen: { counts: null },
    isAsked: false,
    alarm: 'none',
    isAlarmKept: false,
    ...more,
  };
}

test('a main that failed twice sounds the alarm once, and the alarm ends when main is green [invariant 22]', () => {
  expect(planQueue(factsOf({ main: red(1) }))).toEqual([{ do: 'check', what: 'main' }]);
  expect(planQueue(factsOf({ main: red(2) }))).toEqual([{ do: 'sound-alarm' }]);
  expect(planQueue(factsOf({ main: red(2) }, { alarm: 'here' }))).toEqual([]);
  expect(planQueue(factsOf({ main: red(2) }, { alarm: 'before' }))).toEqual([{ do: 'sound-alarm' }]);
  expect(planQueue(factsOf({ main: green() }, { alarm: 'here' }))).toEqual([{ do: 'end-alarm' }]);
  expect(planQueue(factsOf({ main: green() }, { alarm: 'before' }))).toEqual([{ do: 'end-alarm' }]);
  expect(planQueue(factsOf({ main: green() }, { alarm: 'here', isAlarmKept: true }))).toEqual([]);
});

test('main is checked on request, whatever the state of the queue', () => {
  expect(planQueue(factsOf({}, { lastGreen: null }))).toEqual([]);
  expect(planQueue(factsOf({}, { lastGreen: null, isAsked: true }))).toEqual([{ do: 'check', what: 'main' }]);
  expect(planQueue(factsOf({}, { alarm: 'here', isAsked: true }))).toEqual([{ do: 'check', what: 'main' }]);
});

test('a change that repairs main is merged although main is red', () => {
  const repair = { links: [link('fix')], alarm: 'here' as const };
  expect(planQueue(factsOf({ main: red(2) }, repair))).toEqual([{ do: 'check', what: 1 }]);
  expect(planQueue(factsOf({ main: red(2), fix: green() }, repair))).toEqual([{ do: 'advance', length: 1 }]);
});

test('a main moved by somebody else is checked beside the next batch, not before it', () => {
  const plan = planQueue(factsOf({}, { links: [link('one'), link('two')] }));
  expect(plan).toEqual([
    { do: 'check', what: 2 },
    { do: 'check', what: 'main' },
  ]);
  expect(planQueue(factsOf({}, { links: [link('one')], running: 2 }))).toEqual([]);
});

test('nothing is ejected while main itself may be what fails', () => {
  const alone = { links: [link('one', { isAlone: true })] };
  expect(planQueue(factsOf({ one: red(2) }, alone))).toEqual([{ do: 'check', what: 'main' }]);
  expect(planQueue(factsOf({ one: red(2), main: green() }, alone))).toEqual([{ do: 'eject', index: 0 }]);
  expect(planQueue(factsOf({ one: red(1), main: green() }, alone))).toEqual([{ do: 'check', what: 1 }]);
  // Main was green before all this: the machine may be the cause.
  expect(planQueue(factsOf({ one: red(2, 9), main: green() }, alone))).toEqual([{ do: 'check', what: 'main' }]);
});

test('a batch that runs fewer tests is split, and the responsible change waits for a person', () => {
  const known = { main: green(10), one: green(10), two: green(5) };
  expect(planQueue(factsOf(known, { links: [link('one'), link('two')] }))).toEqual([{ do: 'separate', length: 2 }]);
  const alone = { links: [link('two', { isAlone: true })] };
  expect(planQueue(factsOf(known, alone))).toEqual([
    {
      do: 'question',
      index: 0,
      findings: [{ kind: 'fewer-tests', detail: 'fewer tests run: 10 before, 5 now', tests: 5 }],
    },
  ]);
  const accept = (kind: Finding['kind'], tests: number) => ({
    links: [link('two', { isAlone: true, accepted: [{ kind, detail: '', tests }] })],
  });
  expect(planQueue(factsOf(known, accept('fewer-tests', 5)))).toEqual([{ do: 'advance', length: 1 }]);
  // Something else was accepted.
  expect(planQueue(factsOf(known, accept('fewer-tests', 4)))).toMatchObject([{ do: 'question' }]);
  expect(planQueue(factsOf(known, accept('skip-added', 5)))).toMatchObject([{ do: 'question' }]);
});

test('if main has no test counts, it is checked before the first change is merged', () => {
  const fresh = { links: [link('one')], lastGreen: null };
  expect(planQueue(factsOf({ one: green(10) }, fresh))).toEqual([{ do: 'check', what: 'main' }]);
  expect(planQueue(factsOf({ one: green(10), main: green(20) }, fresh))).toMatchObject([{ do: 'question' }]);
  expect(planQueue(factsOf({ one: green() }, fresh))).toEqual([{ do: 'advance', length: 1 }]);
});

test('longer chains are cancelled once a shorter one has failed', () => {
  const known = { one: red(1), two: { ...unknown, isRunning: true }, main: green() };
  const links = [link('one'), link('two')];
  expect(planQueue(factsOf(known, { links, running: 1 }))).toEqual([{ do: 'cancel-beyond', length: 1 }]);
});
