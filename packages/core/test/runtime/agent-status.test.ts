import { reportStatus, statusOf } from '@pawl/core/runtime/agent-status';
import type { ReportedStatus, StatusReport } from '@pawl/core/runtime/agent-status';
import { liveState } from '@pawl/core/sessions/live';
import type { LiveState } from '@pawl/schema/status';
import type { StreamEvent } from '@pawl/schema/stream-event';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

const call: StreamEvent = { type: 'tool-call', id: '1', name: 'Read', input: 'src/a.ts' };

/** Reports the statuses of some events, from model loading on. */
function reportAll(events: readonly StreamEvent[]): StatusReport[] {
  let live: LiveState = { live: 'model_loading', detail: '' };
  let last: ReportedStatus = null;
  let ids = 0;
  const reports: StatusReport[] = [];
  const report = () => {
    const step = reportStatus(last, statusOf(live), () => `s${++ids}`);
    last = step.last;
    reports.push(...step.reports);
  };
  report();
  for (const event of events) {
    const next = liveState(event, live);
    if (next === null) continue;
    live = next;
    report();
  }
  return reports;
}

test('phases have the same words for every provider [S2-19] [S2-36]', () => {
  expect(reportAll([{ type: 'thinking', text: 'hm' }, call, { type: 'text', text: 'done' }])).toEqual([
    { status: 'model_loading', detail: 'Model loading', status_id: 's1', lifecycle: 'doing' },
    { status: 'model_loading', detail: 'Model loading', status_id: 's1', lifecycle: 'done' },
    { status: 'thinking', detail: 'Thinking', status_id: 's2', lifecycle: 'doing' },
    { status: 'thinking', detail: 'Thinking', status_id: 's2', lifecycle: 'done' },
    { status: 'calling_tool', detail: 'Calling Read', about: 'src/a.ts', status_id: 's3', lifecycle: 'doing' },
    { status: 'calling_tool', detail: 'Calling Read', about: 'src/a.ts', status_id: 's3', lifecycle: 'done' },
    { status: 'working', detail: 'Working', status_id: 's4', lifecycle: 'doing' },
  ]);
});

test('a repeated status keeps its id, and idle closes it [W2-15]', () => {
  const again: StreamEvent = { ...call, input: 'src/b.ts' };
  const result: StreamEvent = { type: 'result', ok: true, text: '', fault: null };
  const reports = reportAll([call, call, again, result, result]);
  expect(
    reports.slice(2).map(({ status, status_id, lifecycle, about }) => [status, status_id, lifecycle, about]),
  ).toEqual([
    ['calling_tool', 's2', 'doing', 'src/a.ts'],
    ['calling_tool', 's2', 'doing', 'src/b.ts'],
    ['calling_tool', 's2', 'done', 'src/b.ts'],
    ['idle', undefined, undefined, undefined],
  ]);
});

test('every status that begins is closed once, in any order of events [W2-15]', () => {
  const events: StreamEvent[] = [
    call,
    { type: 'thinking', text: 'a' },
    { type: 'text-delta', text: 'b' },
    { type: 'tool-result', id: '1', text: 'c', isError: false },
    { type: 'result', ok: true, text: '', fault: null },
    { type: 'echo', text: 'more' },
    { type: 'limit', until: null },
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...events), { maxLength: 30 }), (said) => {
      const reports = reportAll([...said, { type: 'result', ok: true, text: '', fault: null }]);
      const open: string[] = [];
      for (const { status, status_id: id, lifecycle } of reports) {
        if (lifecycle === 'done') expect(open.pop()).toBe(id);
        else if (status === 'idle') expect(open).toEqual([]);
        else if (open[0] !== id) expect(open.push(id ?? '')).toBe(1);
      }
      expect(open).toEqual([]);
    }),
  );
});

test('input after the end of a turn starts the next one', () => {
  const result: StreamEvent = { type: 'result', ok: true, text: '', fault: null };
  const echo: StreamEvent = { type: 'echo', text: 'and now?' };
  expect(reportAll([echo, result, echo]).map(({ status }) => status)).toEqual([
    'model_loading',
    'model_loading',
    'idle',
    'model_loading',
  ]);
});
