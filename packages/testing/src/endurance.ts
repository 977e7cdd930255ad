/**
 * Endurance tests have two sizes: a small one for `npm test`, and the whole for `npm run test:long`. Both make the same
 * assertions.
 */
const isLong = process.env['PAWL_TEST_LONG'] === '1';

/** How often, or how many at once. */
export function endurance(size: { whole: number; small: number }): number {
  return isLong ? size.whole : size.small;
}

/** Chosen and printed once for all tests by test/build.ts; `PAWL_TEST_SEED` repeats a run. */
export const seed = Number(process.env['PAWL_TEST_SEED'] ?? 1);

/** The members of a list to try, in its order: all of them in the long size, else as many as given, drawn by the seed. */
export function sampleOf<Member>(members: readonly Member[], small: number): Member[] {
  if (isLong) return [...members];
  const random = seededRandom();
  // The first number of a small seed is close to 0.
  random();
  const drawn = members.map((member, index) => ({ member, index, order: random() }));
  const kept = drawn.toSorted((one, other) => one.order - other.order).slice(0, small);
  return kept.toSorted((one, other) => one.index - other.index).map(({ member }) => member);
}

/** Pseudorandom numbers from 0 to 1, determined by the seed. */
export function seededRandom(): () => number {
  let state = seed % 2_147_483_647 || 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
