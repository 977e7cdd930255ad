import type { Agent, Run } from '@pawl/schema/record';
import { expect, test } from 'vitest';
import type { RestartFacts, RestartVerdict } from '../../src/supervision/restart.ts';
import { judgeRestart, restartNotice } from '../../src/supervision/restart.ts';
import { aRun, aSession, anAgent } from '../fixture.ts';

const minuteMs = 60_000;
const now = 1_000 * minuteMs;
const endedAt = now - minuteMs;

function judge(given: Partial<RestartFacts> & { who?: Partial<Agent>; what?: Partial<Run>; at?: number }) {
  const { who = {}, what = {}, at = now, ...rest } = given;
  const agent = anAgent({ class: 'persistent', ...who });
  const run = aRun({ outcome: 'failed', endedAt, detail: 'exit code 1', ...what });
  const session = aSession({ endedAt });
  return judgeRestart({ agent, run, session, failures: 1, resumable: true, ...rest }, at);
}

const nothing: RestartVerdict = { do: 'nothing' };

test('a persistent agent is restarted; an ephemeral, sub-, dead, stopped or completed one is not [W4-06]', () => {
  expect(judge({})).toEqual({ do: 'restart', attempt: 1 });
  expect(judge({ who: { class: 'ephemeral' } })).toEqual(nothing);
  expect(judge({ who: { kind: 'subagent' } })).toEqual(nothing);
  expect(judge({ who: { endedAt: 1 } })).toEqual(nothing);
  expect(judge({ who: { stopRequestedAt: 1 } })).toEqual(nothing);
  expect(judge({ who: { completion: { at: 1, summary: null, failure: null } } })).toEqual(nothing);
  expect(judge({ who: { adopted: { pid: 1, start: 's', cwd: '/' } } })).toEqual(nothing);
  expect(judge({ who: { parentId: null } })).toEqual(nothing);
  expect(judge({ what: { outcome: 'completed' } })).toEqual(nothing);
  expect(judge({ what: { outcome: 'cancelled' } })).toEqual(nothing);
  expect(judge({ what: { outcome: null, endedAt: null } })).toEqual(nothing);
  expect(judge({ run: null })).toEqual(nothing);
  expect(judge({ resumable: false }), 'nothing to go on with').toEqual(nothing);
  expect(judge({ session: aSession({ endedAt, limitUntil: 0 }) }), 'a limit is no crash').toEqual(nothing);
});

test('the delay doubles with each crash, and after the third restart in an hour it is given up [W4-06]', () => {
  expect(judge({ at: endedAt + minuteMs - 1 })).toEqual({ do: 'wait' });
  expect(judge({ failures: 2, at: endedAt + 2 * minuteMs - 1 })).toEqual({ do: 'wait' });
  expect(judge({ failures: 2, at: endedAt + 2 * minuteMs })).toEqual({ do: 'restart', attempt: 2 });
  expect(judge({ failures: 3, at: endedAt + 4 * minuteMs })).toEqual({ do: 'restart', attempt: 3 });
  const reason = 'it crashed 4 times within an hour, last with: exit code 1';
  expect(judge({ failures: 4, at: endedAt + 9 * minuteMs })).toEqual({ do: 'give-up', reason });
  expect(judge({ failures: 4, who: { stuckAt: endedAt } }), 'said once').toEqual(nothing);
  expect(judge({ failures: 0, who: { stuckAt: endedAt } }), 'for good, not for an hour').toEqual(nothing);
  expect(judge({ who: { stuckAt: endedAt - 1 } }), 'it had only been silent').toEqual({ do: 'restart', attempt: 1 });
});

test('a clock set back keeps nobody waiting', () => {
  expect(judge({ at: endedAt - 120 * minuteMs })).toEqual({ do: 'restart', attempt: 1 });
});

test('the notice has the reason in one line', () => {
  expect(restartNotice(anAgent(), aRun({ detail: `exit code 1\nsecond line` }))).toMatch(
    /^You were restarted: .* \(exit code 1\)\./,
  );
  expect(restartNotice(anAgent(), aRun({ detail: null }))).toContain('(unknown reason)');
});
