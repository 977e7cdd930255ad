import { nameSchema } from '@pawl/schema/id';
import { expect, test } from 'vitest';
import { chooseAlias, plainAliases } from '../../src/agents/alias.ts';

test('aliases are adjective-animal, and valid names [S3-16, W4-14]', () => {
  for (let index = 0; index < 200; index++) {
    const alias = chooseAlias(new Set(), () => index / 200);
    expect(alias).toMatch(/^[a-z]+-[a-z]+$/);
    expect(nameSchema.safeParse(alias).success).toBe(true);
  }
});

test('every value of the random number gives another alias', () => {
  const starts = Array.from({ length: plainAliases }, (_, index) => (index + 0.5) / plainAliases);
  expect(new Set(starts.map((start) => chooseAlias(new Set(), () => start))).size).toBe(plainAliases);
});

test('no alias repeats until all are used, and then numbers are added', () => {
  // Each choice starts elsewhere, so this takes one step per alias instead of one per pair.
  const taken = new Set<string>();
  for (let index = 0; index < plainAliases; index++) {
    taken.add(chooseAlias(taken, () => (index + 0.5) / plainAliases));
  }
  expect(taken.size).toBe(plainAliases);
  expect([...taken].every((alias) => /^[a-z]+-[a-z]+$/.test(alias))).toBe(true);

  const next = chooseAlias(taken, () => 0.3);
  expect(next).toMatch(/^[a-z]+-[a-z]+-2$/);
  expect(chooseAlias(new Set([...taken, next]), () => 0.3)).toMatch(/^[a-z]+-[a-z]+-2$/);

  const seconds = new Set([...taken, ...[...taken].map((alias) => `${alias}-2`)]);
  expect(chooseAlias(seconds, () => 0.3)).toMatch(/^[a-z]+-[a-z]+-3$/);
});

test('the last free alias is found from anywhere', () => {
  const all = Array.from({ length: plainAliases }, (_, index) =>
    chooseAlias(new Set(), () => (index + 0.5) / plainAliases),
  );
  for (const [index, free] of all.slice(0, 40).entries()) {
    expect(chooseAlias(new Set(all.filter((alias) => alias !== free)), () => index / 40)).toBe(free);
  }
});

test('consecutive aliases from one starting point are unique', () => {
  const taken = new Set<string>();
  for (let index = 0; index < 500; index++) taken.add(chooseAlias(taken, () => 0.999_999));
  expect(taken.size).toBe(500);
});
