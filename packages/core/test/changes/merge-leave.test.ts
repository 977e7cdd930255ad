import { expect, test } from 'vitest';
import type { MergeLeave, MergeRules } from '../../src/changes/merge-leave.ts';
import { mergeRules } from '../fixture.ts';
import { mayPush, mergeLeave, notCommitted, queueAdvice, readyDetail } from '../../src/changes/merge-leave.ts';

const head = 'a'.repeat(40);
const asked = { head, askedHead: head };
const unasked = { head, askedHead: null };
const movedOn = { head, askedHead: 'b'.repeat(40) };
const local = mergeRules;
const auto: MergeRules = { ...local, auto: true };
const remote: MergeRules = { ...auto, remote: 'origin' };

test.each<[string, Parameters<typeof mergeLeave>, MergeLeave]>([
  ['what a person asked for', [asked, local], 'granted'],
  ['what nobody asked for', [unasked, local], 'not-asked'],
  ['what was asked for before it moved on', [movedOn, local], 'not-asked'],
  ['anything, with auto and no remote', [unasked, auto], 'granted'],
  ['anything, with auto and a remote', [unasked, remote], 'push-not-allowed'],
  ['the same, once pushing is allowed', [unasked, { ...remote, pushAllowed: true }], 'granted'],
  ['pushing is allowed, and auto is off', [unasked, { ...remote, auto: false, pushAllowed: true }], 'not-asked'],
  ['with a remote, what a person asked for', [asked, remote], 'granted'],
  ['a configuration that is not committed', [asked, { ...auto, source: 'checkout' }], 'not-committed'],
  ['no configuration at all', [asked, { ...auto, source: 'none' }], 'not-committed'],
])('whether a change may be merged: %s', (_name, [change, rules], leave) => {
  expect(mergeLeave(change, rules)).toBe(leave);
});

test('commits are pushed only with permission for the project or a request for this head', () => {
  expect([mayPush(unasked, false), mayPush(movedOn, false)]).toEqual([false, false]);
  expect([mayPush(unasked, true), mayPush(asked, false)]).toEqual([true, true]);
});

test('a change that waits for a person names the next command', () => {
  const change = { id: '4fGhXq12abcdefghijklmn' };
  expect(readyDetail(change, 'not-asked', local)).toBe('passes its checks; `pawl change merge 4fGhXq12`');
  expect(readyDetail(change, 'push-not-allowed', remote)).toBe(
    'passes its checks; pushing to origin/main must be allowed once: `pawl queue allow-push`, or merge this one: `pawl change merge 4fGhXq12`',
  );
  expect(readyDetail(change, 'not-committed', remote)).toMatch(
    /^passes its checks; nothing is merged: `\.pawl\/config\.yaml` is not committed on main: .*`git push origin main`$/,
  );
});

test('a queue that is off or has no checks gives no advice about merging', () => {
  const rules = { ...remote, enabled: true, hasChecks: true };
  expect(queueAdvice(rules)).toHaveLength(1);
  expect(queueAdvice({ ...rules, source: 'checkout' })).toEqual([expect.stringContaining('not committed on main')]);
  for (const quiet of [{ enabled: false }, { hasChecks: false }, { auto: false }, { pushAllowed: true }])
    expect(queueAdvice({ ...rules, ...quiet })).toEqual([]);
});

const commit = '0123456789'.repeat(4);
const file = '.pawl/config.yaml';
const save = `git commit -m "chore: add the checks" ${file}`;

test.each<[string, Partial<MergeRules>, string[]]>([
  ['on the target branch', { checkout: { branch: 'main', commit, hasFile: false } }, [`git add ${file}`, save]],
  [
    'committed on the target branch, and not pushed',
    { remote: 'origin', checkout: { branch: 'main', commit, hasFile: true } },
    ['git push origin main'],
  ],
  [
    'on another branch',
    { remote: 'origin', checkout: { branch: 'feature', commit, hasFile: false } },
    ['git switch main', `git add ${file}`, save, 'git push origin main', 'git switch feature'],
  ],
  [
    'committed on another branch with an odd name',
    { checkout: { branch: 'a;b', commit, hasFile: true } },
    ['git switch main', `git checkout 'a;b' -- ${file}`, save, "git switch 'a;b'"],
  ],
  [
    'on a detached HEAD',
    { checkout: { branch: null, commit, hasFile: true } },
    ['git switch main', `git checkout 0123456789 -- ${file}`, save, 'git switch --detach 0123456789'],
  ],
])('the commands that commit the configuration, from a checkout %s', (_name, given, commands) => {
  const text = notCommitted({ ...local, ...given });
  expect(text.slice(text.indexOf(': ') + 2)).toBe(commands.map((each) => `\`${each}\``).join(', '));
});
