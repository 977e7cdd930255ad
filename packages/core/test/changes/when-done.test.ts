import { expect, test } from 'vitest';
import type { DoneRules } from '../../src/changes/when-done.ts';
import { mergeNote, whenDone, whenUnreadable } from '../../src/changes/when-done.ts';

const rules: DoneRules = {
  branch: 'main',
  source: 'commit',
  checkout: null,
  enabled: true,
  hasChecks: true,
  auto: false,
  remote: null,
  pushAllowed: false,
};
const remote = { name: 'origin', url: 'https://example.com/shop.git' };
const place = 'origin (https://example.com/shop.git)';

test.each<[string, DoneRules, string, string]>([
  ['the default', rules, 'checked', 'its branch is checked; you merge it with `pawl change merge`'],
  [
    'the default with a remote',
    { ...rules, remote },
    'checked',
    `its branch is checked; you merge it with \`pawl change merge\`, which pushes main to ${place}`,
  ],
  ['auto', { ...rules, auto: true }, 'merged', 'it is merged into main automatically when its checks pass'],
  [
    'auto with a remote',
    { ...rules, auto: true, remote },
    'checked',
    `its branch is checked; pushing main to ${place} must be allowed: \`pawl queue allow-push\`, or \`pawl change merge\` for this one`,
  ],
  [
    'auto with a remote, and pushing allowed',
    { ...rules, auto: true, remote, pushAllowed: true },
    'merged-and-pushed',
    `it is merged into main automatically when its checks pass, and pushed to ${place}`,
  ],
  [
    'a configuration that is not committed',
    { ...rules, auto: true, source: 'checkout' },
    'checked',
    'its branch is checked; nothing is merged until .pawl/config.yaml is committed on main',
  ],
  [
    'a configuration that the remote does not have',
    { ...rules, remote, source: 'checkout' },
    'checked',
    'its branch is checked; nothing is merged until .pawl/config.yaml is on origin/main',
  ],
  [
    'no checks',
    { ...rules, source: 'none', hasChecks: false },
    'nothing',
    'no checks are configured: nothing is merged; add them to .pawl/config.yaml',
  ],
  [
    'a queue that is off',
    { ...rules, enabled: false },
    'nothing',
    'the queue is off in .pawl/config.yaml: nothing is checked or merged',
  ],
])('what happens when an agent is done, with %s', (_name, given, outcome, text) => {
  expect(whenDone(given)).toEqual({ outcome, text });
});

test('with a configuration that cannot be read nothing happens, and the reason is given', () => {
  const text = 'nothing is checked or merged: .pawl/config.yaml of 12 is not YAML';
  expect(whenUnreadable('.pawl/config.yaml of 12 is not YAML.')).toEqual({ outcome: 'nothing', text });
});

test('a merge request describes its effect', () => {
  const head = 'a'.repeat(40);
  const asked = { head, askedHead: head, mergedAt: null };
  const unasked = { ...asked, askedHead: null };
  expect(mergeNote(asked, rules)).toBe('merges into main when its checks pass');
  expect(mergeNote(asked, { ...rules, remote })).toBe(
    `merges into main when its checks pass, and pushes main to ${place}`,
  );
  expect(mergeNote(unasked, rules)).toBe('it is checked; a person merges it: `pawl change merge`');
  expect(mergeNote(unasked, { ...rules, auto: true, remote })).toBe(
    'it is checked; a person merges it: `pawl change merge`',
  );
  expect(mergeNote(unasked, { ...rules, source: 'checkout' })).toContain('nothing is merged until');
  expect(mergeNote({ ...asked, mergedAt: 1 }, rules)).toBe('it is already merged into main');
});
