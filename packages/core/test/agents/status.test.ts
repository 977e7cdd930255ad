import type { Status } from '@pawl/schema/status';
import { describe, expect, test } from 'vitest';
import type { StatusFacts } from '../../src/agents/status.ts';
import { deriveStatus } from '../../src/agents/status.ts';
import { aRun, aSession, anAgent } from '../fixture.ts';

type Row = [name: string, facts: Partial<StatusFacts>, expected: Partial<Status>];

const question = { id: 'q1', question: 'Which database?' };
const ended = { endedAt: 9, exitCode: 0 };

const rows: Row[] = [
  ['no run', { run: null }, { activity: 'idle', live: 'idle', run: null, detail: '' }],
  [
    'an open run without a worktree',
    { agent: anAgent({ worktreeReadyAt: null }), session: null },
    { activity: 'starting', live: 'idle', run: 'running', detail: 'creating the worktree' },
  ],
  [
    '7.4: completed, while its process leaves',
    {
      agent: anAgent({ completion: { at: 5, summary: 'it works', failure: null } }),
      live: { live: 'working', detail: '' },
    },
    { status: 'running', activity: 'ready_for_cleanup', live: 'working', run: 'running', detail: 'it works' },
  ],
  [
    '7.4: failed for good, and not ended yet',
    { agent: anAgent({ completion: { at: 5, summary: null, failure: 'no network' } }), run: null },
    { status: 'running', activity: 'ready_for_cleanup', live: 'idle', run: null, detail: 'failed: no network' },
  ],
  [
    '7.4: completed and ended',
    {
      agent: anAgent({
        completion: { at: 5, summary: 'it works', failure: null },
        endedAt: 9,
        endReason: 'completed',
      }),
    },
    { status: 'dead', activity: 'stopped', live: 'idle', run: 'running', detail: 'completed' },
  ],
  [
    'an open run without a session',
    { session: null },
    { activity: 'starting', live: 'idle', run: 'running', detail: 'starting session 1' },
  ],
  [
    'a planned session',
    { session: aSession({ no: 2, startedAt: null, pid: null }) },
    { activity: 'starting', live: 'idle', run: 'running', detail: 'starting session 2' },
  ],
  [
    'a session that ended while its run goes on',
    { session: aSession({ no: 2, ...ended }) },
    { activity: 'starting', live: 'idle', run: 'running', detail: 'starting session 3' },
  ],
  [
    'a session that ended at the beginning of time',
    { session: aSession({ no: 2, endedAt: 0 }) },
    { activity: 'starting', live: 'idle', run: 'running', detail: 'starting session 3' },
  ],
  [
    'a process that has said nothing yet',
    {},
    { activity: 'running', live: 'model_loading', run: 'running', detail: 'waiting for the first output' },
  ],
  [
    'a process that calls a tool',
    { live: { live: 'calling_tool', detail: 'Bash ls' } },
    { activity: 'running', live: 'calling_tool', run: 'running', detail: 'Bash ls' },
  ],
  [
    'a process that is being stopped, whatever it says',
    { agent: anAgent({ stopRequestedAt: 8 }), live: { live: 'thinking', detail: 'hm' } },
    { activity: 'running', live: 'working', run: 'running', detail: 'stopping' },
  ],
  [
    'a stop before there is a worktree',
    { agent: anAgent({ stopRequestedAt: 8, worktreeReadyAt: null }), session: null },
    { activity: 'running', live: 'working', run: 'running', detail: 'stopping' },
  ],
  [
    'completed',
    { run: aRun({ outcome: 'completed', detail: 'fixed it' }), session: aSession(ended) },
    { activity: 'idle', live: 'idle', run: 'completed', detail: 'fixed it' },
  ],
  [
    'completed after a usage limit that passed',
    { run: aRun({ outcome: 'completed' }), session: aSession({ ...ended, limitUntil: 99 }) },
    { activity: 'idle', live: 'idle', run: 'completed', detail: '' },
  ],
  [
    'completed with questions',
    { run: aRun({ outcome: 'completed', detail: 'questions', questions: [question] }), session: aSession(ended) },
    { activity: 'waiting_for_input', live: 'idle', run: 'completed', detail: 'Which database?' },
  ],
  [
    '7.4: a run that was cancelled leaves its agent idle',
    { run: aRun({ outcome: 'cancelled', detail: 'cancelled on request' }), session: aSession(ended) },
    { activity: 'idle', live: 'idle', run: 'cancelled', detail: 'cancelled on request' },
  ],
  [
    '7.4: a session that was stopped leaves its agent stopped',
    {
      agent: anAgent({ stopRequestedAt: 8 }),
      run: aRun({ outcome: 'cancelled', detail: 'stopped on request' }),
      session: aSession(ended),
    },
    { activity: 'stopped', live: 'idle', run: 'cancelled', detail: 'stopped on request' },
  ],
  [
    '7.4: a stop that came when the work was done changes nothing',
    {
      agent: anAgent({ stopRequestedAt: 8 }),
      run: aRun({ outcome: 'completed', detail: 'fixed it' }),
      session: aSession(ended),
    },
    { activity: 'idle', live: 'idle', run: 'completed', detail: 'fixed it' },
  ],
  [
    '7.4: paused, whatever it said last',
    { session: aSession({ pausedAt: 7 }), live: { live: 'calling_tool', detail: 'Bash ls' } },
    { activity: 'running', live: 'idle', run: 'running', detail: 'paused' },
  ],
  [
    '7.4: a session that ended while it was paused is paused no more',
    { session: aSession({ no: 1, pausedAt: 7, ...ended }) },
    { activity: 'starting', live: 'idle', run: 'running', detail: 'starting session 2' },
  ],
  [
    '7.4: paused and being stopped',
    { agent: anAgent({ stopRequestedAt: 8 }), session: aSession({ pausedAt: 7 }) },
    { activity: 'running', live: 'working', run: 'running', detail: 'stopping' },
  ],
  [
    '7.4: queued before it has a worktree',
    { agent: anAgent({ worktreeReadyAt: null }), session: null, queued: true },
    { activity: 'starting', live: 'idle', run: 'running', detail: 'waiting for a free place' },
  ],
  [
    '7.4: queued with a session that is planned',
    { session: aSession({ startedAt: null, pid: null }), queued: true },
    { activity: 'starting', live: 'idle', run: 'running', detail: 'waiting for a free place' },
  ],
  [
    '7.4: queued and being stopped',
    { agent: anAgent({ stopRequestedAt: 8 }), session: null, queued: true },
    { activity: 'running', live: 'working', run: 'running', detail: 'stopping' },
  ],
  [
    '7.4: queued for nothing, since its run is over',
    { run: aRun({ outcome: 'completed', detail: 'fixed it' }), session: aSession(ended), queued: true },
    { activity: 'idle', live: 'idle', run: 'completed', detail: 'fixed it' },
  ],
  [
    'failed',
    { run: aRun({ outcome: 'failed', detail: 'it exited with code 1' }), session: aSession(ended) },
    { activity: 'crashed', live: 'idle', run: 'failed', detail: 'it exited with code 1' },
  ],
  [
    'failed before there was a session',
    { run: aRun({ outcome: 'failed', detail: 'no worktree' }), session: null },
    { activity: 'crashed', live: 'idle', run: 'failed', detail: 'no worktree' },
  ],
  [
    'failed by a usage limit with a known end',
    { run: aRun({ outcome: 'failed', detail: 'limit' }), session: aSession({ ...ended, limitUntil: 99 }) },
    { activity: 'exhausted', live: 'idle', run: 'failed', detail: 'limit', exhaustedUntil: 99 },
  ],
  [
    'failed by a usage limit without one',
    { run: aRun({ outcome: 'failed', detail: 'limit' }), session: aSession({ ...ended, limitUntil: 0 }) },
    { activity: 'exhausted', live: 'idle', run: 'failed', detail: 'limit', exhaustedUntil: null },
  ],
  [
    'failed by a passed budget',
    {
      run: aRun({ outcome: 'failed', cause: { reason: 'budget', of: 'agent', detail: '5 of 4 turns' } }),
      session: aSession({ ...ended, limitUntil: 99 }),
    },
    {
      activity: 'over_budget',
      live: 'idle',
      run: 'failed',
      detail:
        'over the budget of the agent (5 of 4 turns); raise it and continue: pawl resume brave-otter --budget turns=N (N counts from its start)',
    },
  ],
  [
    'W4-17: at work without getting anywhere',
    {
      agent: anAgent({ stuckAt: 9, stuckReason: 'no output for 30 minutes' }),
      live: { live: 'thinking', detail: 'hm' },
    },
    { activity: 'running', live: 'thinking', run: 'running', detail: 'stuck: no output for 30 minutes' },
  ],
  [
    'stuck, and silent for longer than its provider usually is',
    { agent: anAgent({ stuckAt: 9, stuckReason: 'no output for 30 minutes' }), silentMs: 40_000 },
    {
      activity: 'waiting_for_provider',
      live: 'model_loading',
      run: 'running',
      detail: 'stuck: no output for 30 minutes',
    },
  ],
  [
    'given up after it crashed again and again',
    {
      agent: anAgent({ stuckAt: 9, stuckReason: 'it crashed 4 times' }),
      run: aRun({ outcome: 'failed', detail: 'exit code 1' }),
      session: aSession(ended),
    },
    { activity: 'crashed', live: 'idle', run: 'failed', detail: 'stuck: it crashed 4 times' },
  ],
  [
    'dead, with a reason',
    { agent: anAgent({ endedAt: 9, endReason: 'retired' }), run: aRun({ outcome: 'completed', detail: 'fixed it' }) },
    { status: 'dead', activity: 'stopped', live: 'idle', run: 'completed', detail: 'retired' },
  ],
  [
    '7.4: reaped',
    {
      agent: anAgent({ endedAt: 9, endReason: 'killed', reapedAt: 10 }),
      run: aRun({ outcome: 'cancelled', detail: 'killed' }),
    },
    { status: 'reaped', activity: 'stopped', live: 'idle', run: 'cancelled', detail: 'killed' },
  ],
  [
    'dead in the middle of a run, without a reason',
    { agent: anAgent({ endedAt: 9 }), live: { live: 'thinking', detail: 'hm' } },
    { status: 'dead', activity: 'stopped', live: 'idle', run: 'running', detail: 'ended' },
  ],
];

describe('deriving a status from facts [S3-31, W3-05]', () => {
  test.each(rows)('%s', (_name, facts, expected) => {
    const status = deriveStatus({ agent: anAgent(), run: aRun(), session: aSession(), ...facts });
    expect(status).toEqual({ status: 'running', exhaustedUntil: null, ...expected });
  });
});
