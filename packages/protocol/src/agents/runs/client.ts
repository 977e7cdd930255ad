import type { Delegated, DelegateBody, RunResult } from './view.ts';
import { segment } from '../../path-segment.ts';
import type { Requests } from '../../requests.ts';

/** The client for runs. */
export type RunClient = {
  /** Starts an agent for the calling agent; idempotent by key. */
  delegate(body: DelegateBody, key: string): Promise<Delegated>;
  /** A run and its result, after it has ended or after `waitMs`, whichever comes first. */
  runResult(run: string, query?: { waitMs?: number }): Promise<RunResult>;
  /** Cancels the run with this id, or the open one of this agent. */
  cancelRun(reference: string): Promise<{ cancelled: string[] }>;
};

export function runClient({ get, post }: Requests): RunClient {
  return {
    delegate: (body, key) => post('/api/delegations', body, { key }),
    runResult: (run, query) => get(`/api/runs/${segment('run', run)}`, query),
    cancelRun: (reference) => post(`/api/runs/${segment('run', reference)}/cancel`, {}, { waits: true }),
  };
}
