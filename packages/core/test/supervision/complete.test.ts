import { limits } from '@pawl/schema/limit';
import { describe, expect, test } from 'vitest';
import {
  admitCompletion,
  completionText,
  endReasonOf,
  lastWord,
  refuseAfterCompletion,
  signalOfCompletion,
  whoHears,
} from '../../src/supervision/complete.ts';
import { anAgent, idOf } from '../fixture.ts';

const nothing = { summary: null, failure: null };
const said = { summary: 'it works', failure: null };
const completed = { at: 7, ...said };

describe('a completion', () => {
  test('is trimmed, and may be empty', () => {
    expect(lastWord({})).toEqual(nothing);
    expect(lastWord({ summary: '  it works\n' })).toEqual(said);
    expect(lastWord({ summary: '  ', failure: 'no network' })).toEqual({ summary: null, failure: 'no network' });
  });

  test.each([
    ['an empty reason', { failure: ' ' }, 'invalid_input'],
    ['a NUL', { summary: 'a\0b' }, 'invalid_input'],
    ['too long a summary', { summary: 'x'.repeat(limits.taskSummaryCharacters + 1) }, 'too_large'],
    ['too long a reason', { failure: 'x'.repeat(limits.taskSummaryCharacters + 1) }, 'too_large'],
  ])('%s is refused', (_what, given, code) => {
    expect(() => lastWord(given)).toThrow(expect.objectContaining({ code }));
  });
});

describe('who may complete', () => {
  test('an ephemeral agent, once', () => {
    expect(admitCompletion(anAgent(), said)).toBe('new');
    expect(admitCompletion(anAgent({ completion: completed }), said)).toBe('known');
    expect(admitCompletion(anAgent({ completion: completed }), nothing)).toBe('known');
    expect(admitCompletion(anAgent({ completion: completed, endedAt: 9 }), said)).toBe('known');
  });

  test.each([
    ['another summary', { summary: 'or not', failure: null }],
    ['a failure instead', { summary: null, failure: 'no network' }],
  ])('%s after the first completion is a conflict', (_what, other) => {
    expect(() => admitCompletion(anAgent({ completion: completed }), other)).toThrow(
      expect.objectContaining({ code: 'conflict' }),
    );
  });

  test('success after a failure is a conflict, with words or without', () => {
    const failed = anAgent({ completion: { at: 7, summary: null, failure: 'no network' } });
    for (const word of [said, nothing]) {
      expect(() => admitCompletion(failed, word)).toThrow(expect.objectContaining({ code: 'conflict' }));
    }
  });

  test.each([
    ['7.12: who is there for good', anAgent({ class: 'persistent' }), 'conflict', /persistent/],
    ['the dead', anAgent({ endedAt: 9 }), 'conflict', /dead/],
    [
      'a process that Pawl did not start',
      anAgent({ adopted: { pid: 7, start: 'x', cwd: '/' } }),
      'conflict',
      /not started/,
    ],
    ['agent 0', anAgent({ parentId: null }), 'forbidden', /Agent 0/],
    ['an errand, which a person decides about', anAgent({ mode: 'errand' }), 'conflict', /errand/],
  ])('%s may not', (_who, agent, code, message) => {
    expect(() => admitCompletion(agent, said)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  test('a completed agent cannot continue [W4-09]', () => {
    expect(() => refuseAfterCompletion(anAgent())).not.toThrow();
    expect(() => refuseAfterCompletion(anAgent({ completion: completed }))).toThrow(
      expect.objectContaining({ code: 'conflict', message: expect.stringContaining('has completed') }),
    );
  });
});

describe('recipients of a completion [W4-08]', () => {
  const agent = anAgent();
  const supervisor = anAgent({ id: idOf('boss'), class: 'persistent' });
  const one = anAgent({ id: idOf('one') });
  const two = anAgent({ id: idOf('two') });
  const gone = anAgent({ id: idOf('gone'), endedAt: 5 });
  const leaving = anAgent({ id: idOf('leaving'), completion: completed });
  const stranger = anAgent({ id: idOf('stranger'), adopted: { pid: 7, start: 'x', cwd: '/' } });
  const colleagues = [
    { agent, role: 'y' },
    { agent: supervisor, role: 'x' },
    ...[one, two, gone, leaving, stranger].map((each) => ({ agent: each, role: 'y' })),
    { agent: anAgent({ id: idOf('other') }), role: null },
  ];
  const hear = (notify: string[], given = { supervisor: supervisor as typeof supervisor | null, colleagues }) =>
    whoHears(agent, notify, given).map(({ id }) => id);

  test('each once, never oneself, the dead, the completed or an adopted agent', () => {
    expect(hear(['parent', 'x', 'y'])).toEqual([supervisor.id, one.id, two.id]);
    expect(hear(['y', 'y', 'parent'])).toEqual([one.id, two.id, supervisor.id]);
  });

  test('a definition that names one role tells only that role', () => {
    expect(hear(['y'])).toEqual([one.id, two.id]);
    expect(hear(['x'])).toEqual([supervisor.id]);
  });

  test('without anybody in the role, the supervisor is told; an empty list tells nobody', () => {
    expect(hear(['nobody-has-this'])).toEqual([supervisor.id]);
    expect(hear([])).toEqual([]);
    expect(hear(['parent'], { supervisor: null, colleagues: [] })).toEqual([]);
  });
});

describe('the notice', () => {
  const facts = { task: 'fix the login test\nand more', commits: 2 };

  test('says who, where, what next, and then the summary, which may be long', () => {
    expect(completionText(anAgent(), said, facts)).toBe(
      [
        'brave-otter has completed its task: fix the login test',
        'Branch: work/brave-otter (2 commits of its own)',
        'Next: have its branch reviewed and merged; it ends now; its conversation: `pawl history brave-otter`.',
        '',
        'it works',
      ].join('\n'),
    );
  });

  test('the text says who merges the change: the queue or a person', () => {
    const change = { id: 'c1', queuedAt: 1 };
    expect(completionText(anAgent(), said, { ...facts, change, mergesByItself: true })).toContain(
      'Next: its change is merged when its checks pass (`pawl change show c1`)',
    );
    expect(completionText(anAgent(), said, { ...facts, change })).toContain(
      'Next: a person merges its change when its checks pass (`pawl change merge c1`)',
    );
    expect(completionText(anAgent(), said, { ...facts, change: { id: 'c1', queuedAt: null } })).toContain(
      'Next: its change is a draft, which is checked and merged when a person asks for it (`pawl change merge c1`)',
    );
  });

  test('has a failure, and why', () => {
    const text = completionText(anAgent(), { summary: null, failure: 'no network' }, { ...facts, commits: 1 });
    expect(text).toContain('brave-otter could not do its task: fix the login test\nWhy: no network\n');
    expect(text).toContain('(1 commit of its own)');
    expect(text).toContain('decide which agent does the task');
  });

  test('says that there is nothing to merge, or that nothing is known', () => {
    expect(completionText(anAgent(), nothing, { ...facts, commits: 0 })).toContain('nothing is left to merge');
    const bare = completionText(anAgent({ branch: null }), nothing, { task: null, commits: null });
    expect(bare.split('\n')[0]).toBe('brave-otter has completed its task');
    expect(bare).not.toContain('Branch');
  });
});

describe('a completion instead of a signal [7.12]', () => {
  test('becomes the matching signal', () => {
    expect(signalOfCompletion(null)).toBeNull();
    expect(signalOfCompletion(said)).toEqual({ status: 'done', result: 'it works' });
    expect(signalOfCompletion({ summary: 'half', failure: 'no network' })).toEqual({
      status: 'error',
      error: 'no network',
    });
  });

  test("without a summary, uses the provider's result", () => {
    expect(signalOfCompletion(nothing, { ok: true, text: 'All done.', fault: null })).toEqual({
      status: 'done',
      result: 'All done.',
    });
    expect(signalOfCompletion(nothing, { ok: false, text: 'overloaded', fault: 'transient' })).toEqual({
      status: 'done',
      result: '',
    });
  });

  test("becomes the agent's end reason", () => {
    expect(endReasonOf(said)).toBe('completed');
    expect(endReasonOf({ summary: null, failure: 'x'.repeat(1_000) })).toMatch(/^failed: x{100,}…$/);
  });
});
