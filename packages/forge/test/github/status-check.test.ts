import { checksOf, checksOfRuns } from '@pawl/forge/github/status-check';
import { expect, test } from 'vitest';

const commit = 'a'.repeat(40);
const older = 'b'.repeat(40);
const run = (given: {
  headSha?: string;
  status?: string;
  conclusion?: string;
  workflowName?: string;
  event?: string;
}) => ({
  headSha: commit,
  status: 'completed',
  conclusion: 'success',
  workflowName: 'ci',
  event: 'push',
  url: 'https://github.com/octo/sample/actions/runs/1',
  ...given,
});

test.each([
  ['SUCCESS', 'passed'],
  ['FAILURE', 'failed'],
  ['TIMED_OUT', 'failed'],
  ['STARTUP_FAILURE', 'failed'],
  ['ACTION_REQUIRED', 'failed'],
  // It did not run.
  ['CANCELLED', 'failed'],
  ['SKIPPED', 'none'],
  ['NEUTRAL', 'none'],
  ['', 'pending'],
  ['SOMETHING_NEW', 'pending'],
])('a run that was completed with %s counts as %s', (conclusion, state) => {
  expect(checksOf([{ name: 'test', status: 'COMPLETED', conclusion }]).state).toBe(state);
});

test.each([
  ['SUCCESS', 'passed'],
  ['ERROR', 'failed'],
  ['PENDING', 'pending'],
  ['EXPECTED', 'pending'],
])('a status %s counts as %s', (word, state) => {
  expect(checksOf([{ context: 'ci/old', state: word }]).state).toBe(state);
});

test('the last run of a check counts, and one failure fails all', () => {
  const first = { name: 'test', status: 'COMPLETED', conclusion: 'FAILURE', startedAt: '2026-01-01T00:00:01Z' };
  const again = { ...first, conclusion: 'SUCCESS', startedAt: '2026-01-01T00:00:02Z' };
  expect(checksOf([first, again]).state).toBe('passed');
  expect(checksOf([again, { ...again, name: 'lint', conclusion: 'FAILURE' }]).state).toBe('failed');
  expect(checksOf([]).state).toBe('none');
});

test('main is judged by the runs of its newest commit [S4-06]', () => {
  expect(checksOfRuns([run({}), run({ headSha: older, conclusion: 'failure' })])).toMatchObject({
    commit,
    state: 'passed',
  });
  const failed = [run({ conclusion: 'failure' }), run({ workflowName: 'docs' })];
  expect(checksOfRuns(failed)).toMatchObject({ commit, state: 'failed' });
  expect(checksOfRuns([run({ status: 'in_progress', conclusion: '' })])).toMatchObject({ commit, state: 'pending' });
  expect(checksOfRuns([])).toBeNull();
});

test('neither another’s pull request from a branch of that name nor a cancelled run counts for main', () => {
  const foreign = run({ headSha: older, conclusion: 'failure', event: 'pull_request' });
  expect(checksOfRuns([foreign, run({})])).toMatchObject({ commit, state: 'passed' });
  expect(checksOfRuns([foreign])).toBeNull();
  expect(checksOfRuns([run({ conclusion: 'cancelled' })])).toMatchObject({ commit, state: 'none' });
});
