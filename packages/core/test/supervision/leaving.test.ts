import { limits } from '@pawl/schema/limit';
import { describe, expect, test } from 'vitest';
import type { LeavingFacts } from '../../src/supervision/leaving.ts';
import { isAtRest, isDoneWithTask, reasonToStay } from '../../src/supervision/leaving.ts';
import { newChange } from '../../src/changes/change-life.ts';
import { aRun, aSession, anAgent, idOf } from '../fixture.ts';

const ended = aSession({ endedAt: 9 });
const done = { agent: anAgent(), run: aRun({ outcome: 'completed', endedAt: 10 }), session: ended };

describe('an agent has finished its task [7.12]', () => {
  test('if its turn ended well and left no questions', () => {
    expect(isDoneWithTask(done)).toBe(true);
  });

  test.each([
    ['an errand, which a person decides about', { ...done, agent: anAgent({ mode: 'errand' }) }],
    ['one that stays', { ...done, agent: anAgent({ class: 'persistent' }) }],
    ['a plain fork', { ...done, agent: anAgent({ forkMessageId: 7 }) }],
    ['a dead one', { ...done, agent: anAgent({ endedAt: 5 }) }],
    ['agent 0', { ...done, agent: anAgent({ parentId: null }) }],
    ['one that Pawl did not start', { ...done, agent: anAgent({ adopted: { pid: 1, start: '1', cwd: '/' } }) }],
    ['one that has completed', { ...done, agent: anAgent({ completion: { at: 1, summary: null, failure: null } }) }],
    ['one that was stopped', { ...done, agent: anAgent({ stopRequestedAt: 5 }) }],
    ['one without a run', { ...done, run: null }],
    ['one at work', { ...done, run: aRun() }],
    ['one whose process runs', { ...done, session: aSession() }],
    ['one that failed', { ...done, run: aRun({ outcome: 'failed' }) }],
    ['one that was cancelled', { ...done, run: aRun({ outcome: 'cancelled' }) }],
    ['one with questions', { ...done, run: aRun({ outcome: 'completed', questions: [{ id: 'q1', question: '?' }] }) }],
  ])('but not %s', (_, facts) => {
    expect(isDoneWithTask(facts)).toBe(false);
  });
});

describe('a finished agent stays [7.11, 7.12]', () => {
  const now = 10 + limits.leaveMs;
  const facts: LeavingFacts = {
    ...done,
    changes: [],
    repairsMain: false,
    hasMail: false,
    isWatched: false,
    hasSubagentAtWork: false,
    isDelegatorAtWork: false,
  };
  const failed = aRun({ outcome: 'failed', endedAt: 10 });
  const change = newChange({
    id: idOf('change'),
    projectId: idOf('project'),
    agentId: done.agent.id,
    taskId: null,
    branch: 'work/brave-otter',
    head: 'c0ffee',
    base: 'ba5e',
    title: 'a change',
    summary: '',
    openedAt: 1,
    queuedAt: null,
  });
  const review = { ...change, agentId: idOf('other'), reviewerId: done.agent.id };

  test.each<[string, Partial<LeavingFacts>, number, string | null]>([
    ['while its change is open', { changes: [change] }, now, `its change ${change.id} is open`],
    ['not after its change was merged', { changes: [{ ...change, mergedAt: 9 }] }, 10, null],
    ['not after its change was closed', { changes: [{ ...change, closedAt: 9 }] }, 10, null],
    [
      'while one of two is open',
      { changes: [{ ...change, closedAt: 9 }, change] },
      now,
      `its change ${change.id} is open`,
    ],
    [
      'while it repairs another’s',
      { changes: [{ ...review, standInId: done.agent.id }] },
      now,
      `its change ${change.id} is open`,
    ],
    ['while its review is not over', { changes: [review] }, now, 'its review is not over'],
    ['not when its review is over', { changes: [{ ...review, reviewedHead: 'c0ffee' }] }, 10, null],
    ['not when the change has moved on', { changes: [{ ...review, head: 'newer' }] }, 10, null],
    ['while main is red', { repairsMain: true }, now, 'it repairs main, which is red'],
    ['while mail waits for it', { hasMail: true, changes: [{ ...change, mergedAt: 9 }] }, now, 'it has unread mail'],
    ['with nothing proposed for a few minutes', {}, now - 1, 'it finished a moment ago'],
    ['while a person acts as it', { isWatched: true }, now, 'you have switched to it'],
    ['and then leaves', {}, now, null],
    ['while its subagent is at work', { hasSubagentAtWork: true }, now, 'its subagent is at work'],
    [
      'while the run that delegated to it is open',
      { isDelegatorAtWork: true },
      now,
      'the agent that delegated to it is at work',
    ],
    ['after a run that failed', { run: failed }, now, 'its last run did not complete'],
    ['not as a subagent whose run failed', { run: failed, agent: anAgent({ kind: 'subagent' }) }, now, null],
    ['after it was stopped', { agent: anAgent({ stopRequestedAt: 9 }) }, now, 'its last run did not complete'],
    [
      'after a run that failed when its change was settled before',
      { run: failed, changes: [{ ...change, mergedAt: 9 }] },
      now,
      'its last run did not complete',
    ],
    [
      'not when its change was merged after a run that failed',
      { run: failed, changes: [{ ...change, mergedAt: 11 }] },
      12,
      null,
    ],
    [
      'not when another agent continued its change, and that was merged after a run that failed',
      { run: failed, changes: [{ ...change, agentId: idOf('other'), mergedAt: 11 }] },
      12,
      null,
    ],
    [
      'after a run that failed while another agent continues its change',
      { run: failed, changes: [{ ...change, agentId: idOf('other') }] },
      now,
      'its last run did not complete',
    ],
    [
      'not when its change was closed after a run that failed',
      { run: failed, changes: [{ ...change, closedAt: 11 }] },
      12,
      null,
    ],
  ])('%s', (_, given, at, reason) => {
    expect(reasonToStay({ ...facts, ...given }, at)).toBe(reason);
  });
});

test('an agent with a failed run is at rest, and one with questions is not', () => {
  expect(isAtRest({ ...done, run: aRun({ outcome: 'failed', endedAt: 10 }) })).toBe(true);
  expect(isAtRest({ ...done, agent: anAgent({ stopRequestedAt: 5 }) })).toBe(true);
  const questions = [{ id: 'q1', question: '?' }];
  expect(isAtRest({ ...done, run: aRun({ outcome: 'completed', questions, endedAt: 10 }) })).toBe(false);
  expect(isAtRest({ ...done, run: aRun() })).toBe(false);
});
