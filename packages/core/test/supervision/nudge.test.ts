import type { Definition } from '@pawl/schema/definition';
import type { NudgeState } from '@pawl/schema/mail';
import { limits } from '@pawl/schema/limit';
import { describe, expect, test } from 'vitest';
import type { News, NudgeFacts, NudgeMode, NudgeVerdict } from '../../src/supervision/nudge.ts';
import { judgeNudge, skipReasons } from '../../src/supervision/nudge.ts';
import { aDefinition } from '../definitions/fixture.ts';
import { aRun, aSession, anAgent, idOf } from '../fixture.ts';

const minuteMs = 60_000;
const now = 1_000 * minuteMs;
const gapMs = 2 * minuteMs;
const text = 'Status check: how is it going?';
const quiet: News = { changed: false, othersAtWork: false };

function definition(given: Partial<Definition> = {}): Definition {
  return { ...aDefinition(), nudge: text, ...given };
}

function aState(given: Partial<NudgeState> = {}): NudgeState {
  return { agentId: idOf('agent'), nudgedAt: null, mailId: null, backoffMs: 0, seenSeq: 0, skipReason: null, ...given };
}

/** A persistent agent that is idle after its last turn, with overrides. */
function facts(given: Partial<NudgeFacts> = {}): NudgeFacts {
  const over = { outcome: 'completed', endedAt: now - 60 * minuteMs } as const;
  return {
    agent: anAgent({ class: 'persistent' }),
    run: aRun({ definition: definition(), ...over }),
    session: aSession({ endedAt: now - 60 * minuteMs }),
    state: null,
    outstanding: false,
    gapMs,
    ...given,
  };
}

const open = aRun({ definition: definition() });
const failed = aRun({ definition: definition(), outcome: 'failed', endedAt: 5 });
const ephemeral = anAgent({ class: 'ephemeral' });

type Row = [reason: NudgeVerdict, what: string, given: Partial<NudgeFacts>, modes: NudgeMode[], news?: Partial<News>];
const both: NudgeMode[] = ['smart', 'fixed'];
const news: Partial<News> = { changed: true, othersAtWork: true };

const rows: Row[] = [
  [{ skip: 'dead' }, 'who is dead', { agent: anAgent({ endedAt: 1 }) }, both, news],
  [
    { skip: 'adopted' },
    'who was not started by us',
    { agent: anAgent({ adopted: { pid: 1, start: 's', cwd: '/' } }) },
    both,
    news,
  ],
  [{ skip: 'never-started' }, 'who has had no work yet', { run: null, session: null }, both, news],
  [{ skip: 'never-started' }, 'whose first session begins', { run: open, session: null }, both, news],
  [{ skip: 'no-nudge' }, 'whose definition has none', { run: aRun({ definition: definition({ nudge: null }) }) }, both],
  [{ skip: 'no-nudge' }, 'whose run is older than definitions', { run: aRun() }, both, news],
  [
    { skip: 'done' },
    'who has completed',
    { agent: anAgent({ completion: { at: 1, summary: null, failure: null } }), run: open },
    both,
    news,
  ],
  [{ skip: 'done' }, 'who had one task and has done it', { agent: ephemeral }, both, news],
  [{ skip: 'stopped' }, 'who is being stopped', { agent: anAgent({ stopRequestedAt: 3 }), run: open }, both, news],
  [
    { skip: 'stopped' },
    'whose only task was cancelled',
    { agent: ephemeral, run: aRun({ definition: definition(), outcome: 'cancelled', endedAt: 5 }) },
    both,
    news,
  ],
  [{ skip: 'crashed' }, 'who has crashed', { run: failed }, both, news],
  [
    { skip: 'exhausted' },
    'who has reached a limit',
    { run: failed, session: aSession({ endedAt: 5, limitUntil: 9 }) },
    both,
    news,
  ],
  [
    { skip: 'over-budget' },
    'who has passed a budget',
    { run: { ...failed, cause: { reason: 'budget', of: 'agent', detail: '2 of 1 turns' } } },
    both,
    news,
  ],
  [
    { skip: 'exhausted' },
    'who waits for the end of a limit',
    { run: { ...open, waitUntil: now + 1, waitFor: 'account' }, session: aSession({ endedAt: 5 }) },
    both,
    news,
  ],
  [
    { skip: 'waiting-for-provider' },
    'who is tried again soon',
    { run: { ...open, waitUntil: now + 1, waitFor: 'retry' }, session: aSession({ endedAt: 5 }) },
    both,
    news,
  ],
  [
    { skip: 'waiting-for-input' },
    'who has asked a person',
    { run: { ...facts().run!, questions: [{ id: 'q', question: 'Which?' }] } },
    both,
    news,
  ],
  [{ skip: 'paused' }, 'who is halted', { run: open, session: aSession({ pausedAt: 5 }) }, both, news],
  [{ skip: 'unconsumed' }, 'whose last nudge is not read', { outstanding: true }, both, news],
  [{ skip: 'mid-turn' }, 'who is in the middle of a turn', { run: open, session: aSession() }, ['smart'], news],
  [{ nudge: text, backoffMs: gapMs }, 'who is in the middle of a turn', { run: open, session: aSession() }, ['fixed']],
  [
    { nudge: text, backoffMs: gapMs },
    'who does its one task',
    { agent: ephemeral, run: open, session: aSession() },
    ['fixed'],
  ],
  [{ skip: 'gap' }, 'who was just nudged', { state: aState({ nudgedAt: now - gapMs + 1 }) }, both, news],
  [
    { nudge: text, backoffMs: gapMs },
    'who was nudged a gap ago',
    { state: aState({ nudgedAt: now - gapMs }) },
    both,
    news,
  ],
  [{ nudge: text, backoffMs: gapMs }, 'who rests while all is quiet', {}, ['fixed'], quiet],
  [{ skip: 'unchanged' }, 'who rests while all is quiet', {}, ['smart'], quiet],
  [{ skip: 'unchanged' }, 'who rests in the same quiet', { state: aState({ nudgedAt: 1 }) }, ['smart'], quiet],
  [{ nudge: text, backoffMs: gapMs }, 'who has news', {}, ['smart'], { changed: true }],
];

describe('agents that are nudged, and reasons to skip one [7.21]', () => {
  test.each(
    rows.flatMap(([verdict, what, given, modes, change]) =>
      modes.map((mode) => ({ verdict, what, given, mode, change })),
    ),
  )('$what, $mode: $verdict', ({ verdict, given, mode, change }) => {
    expect(judgeNudge(facts(given), { ...quiet, ...change }, now, mode)).toEqual(verdict);
  });

  test('every reason has a row', () => {
    const told = new Set(rows.flatMap(([verdict]) => ('skip' in verdict ? [verdict.skip] : [])));
    expect([...told].toSorted()).toEqual([...skipReasons].toSorted());
  });
});

test('without news, while others work, the intervals are 2, 4, 8, 16, 30 and 30 minutes [6.2.3]', () => {
  const atWork: News = { changed: false, othersAtWork: true };
  let state = aState({ nudgedAt: now });
  const pauses: number[] = [];
  let at = now;
  while (pauses.length < 6) {
    at += minuteMs;
    const verdict = judgeNudge(facts({ state }), atWork, at, 'smart');
    if ('skip' in verdict) continue;
    pauses.push((at - (state.nudgedAt ?? 0)) / minuteMs);
    state = { ...state, nudgedAt: at, backoffMs: verdict.backoffMs };
  }
  expect(pauses).toEqual([2, 4, 8, 16, 30, 30]);
  const news = judgeNudge(facts({ state }), { changed: true, othersAtWork: true }, at + gapMs, 'smart');
  expect(news, 'news begin anew').toEqual({ nudge: text, backoffMs: gapMs });
});

test('a turn starts the same interval as a nudge', () => {
  const run = aRun({ definition: definition(), outcome: 'completed', endedAt: now - minuteMs });
  const atWork: News = { changed: false, othersAtWork: true };
  expect(judgeNudge(facts({ run }), atWork, now, 'smart')).toEqual({ skip: 'unchanged' });
  expect(judgeNudge(facts({ run }), atWork, now + minuteMs, 'smart')).toHaveProperty('nudge', text);
});

test('a clock set back neither stalls nor floods', () => {
  const past = now - 120 * minuteMs;
  const state = aState({ nudgedAt: now, backoffMs: 30 * minuteMs });
  const run = aRun({ definition: definition(), outcome: 'completed', endedAt: now });
  const atWork: News = { changed: false, othersAtWork: true };
  const verdict = judgeNudge(facts({ state, run }), atWork, past, 'smart');
  expect(verdict).toHaveProperty('nudge', text);
  const after = aState({ nudgedAt: past, backoffMs: 'backoffMs' in verdict ? verdict.backoffMs : 0 });
  const soon = past + 29 * minuteMs;
  expect(judgeNudge(facts({ state: after, run }), atWork, soon, 'smart')).toEqual({ skip: 'unchanged' });
});

test('a gap longer than the longest interval is the interval', () => {
  const wide = 2 * limits.longestNudgeGapMs;
  const state = aState({ nudgedAt: now - 3 * wide });
  const verdict = judgeNudge(facts({ gapMs: wide, state }), { changed: false, othersAtWork: true }, now, 'smart');
  expect(verdict).toEqual({ nudge: text, backoffMs: wide });
});

test('in fixed mode, a day of one tick per minute gives 720 nudges, two minutes apart, working or idle [S4-28, 8.9]', () => {
  for (const given of [{}, { run: open, session: aSession() }]) {
    const minutes: number[] = [];
    let state: NudgeState | null = null;
    for (let minute = 0; minute < 24 * 60; minute++) {
      const at = now + minute * minuteMs;
      const verdict = judgeNudge(facts({ ...given, state }), quiet, at, 'fixed');
      if ('skip' in verdict) continue;
      expect(verdict.nudge).toBe(text);
      minutes.push(minute);
      state = aState({ nudgedAt: at, backoffMs: verdict.backoffMs });
    }
    expect(minutes).toEqual(Array.from({ length: 720 }, (_, index) => index * 2));
  }
});
