import type { ForgeCheck, ForgeChecks } from '@pawl/core/port/forge';
import * as z from 'zod';

/** One check of a pull request: an app's check run, or a posted status. */
export const statusCheckSchema = z.object({
  name: z.string().optional(),
  context: z.string().optional(),
  workflowName: z.string().optional(),
  status: z.string().optional(),
  conclusion: z.string().nullable().optional(),
  state: z.string().optional(),
  detailsUrl: z.string().nullable().optional(),
  targetUrl: z.string().nullable().optional(),
  startedAt: z.string().nullable().optional(),
});
type StatusCheck = z.infer<typeof statusCheckSchema>;

/** One workflow run. */
export const runSchema = z.object({
  headSha: z.string().regex(/^[0-9a-f]{40,64}$/),
  status: z.string(),
  conclusion: z.string().nullable(),
  workflowName: z.string(),
  event: z.string(),
  url: z.string(),
});
export type WorkflowRun = z.infer<typeof runSchema>;

/** The checks of a pull request's head; of repeated ones, the last run counts. */
export function checksOf(rollup: readonly StatusCheck[]): ForgeChecks {
  const newestFirst = rollup.toSorted((a, b) => (b.startedAt ?? '').localeCompare(a.startedAt ?? ''));
  const byName = new Map<string, ForgeCheck>();
  for (const check of newestFirst) {
    const name = check.name ?? check.context ?? '';
    const key = `${check.workflowName ?? ''}\0${name}`;
    const url = check.detailsUrl ?? check.targetUrl ?? null;
    if (!byName.has(key)) byName.set(key, { name, state: stateOf(check), url });
  }
  return summed([...byName.values()]);
}

/**
 * The runs of the newest commit, newest first as `gh` lists them. Skips runs for pull requests: a stranger's fork may
 * have a branch of the same name. Skips cancelled runs, because in many repositories the next push cancels them.
 */
export function checksOfRuns(runs: readonly WorkflowRun[]): (ForgeChecks & { commit: string }) | null {
  const own = runs.filter(({ event }) => !event.startsWith('pull_request'));
  const commit = own[0]?.headSha;
  if (commit === undefined) return null;
  const byWorkflow = new Map<string, ForgeCheck>();
  for (const { headSha, workflowName, status, conclusion, url } of own) {
    if (headSha !== commit || byWorkflow.has(workflowName) || conclusion === 'cancelled') continue;
    byWorkflow.set(workflowName, { name: workflowName, state: stateOf({ status, conclusion }), url });
  }
  return { commit, ...summed([...byWorkflow.values()]) };
}

function stateOf({ state, status, conclusion }: StatusCheck): ForgeCheck['state'] {
  const finished = status?.toUpperCase() === 'COMPLETED' ? (conclusion ?? '') : (status ?? '');
  const word = (state === undefined || state === '' ? finished : state).toUpperCase();
  if (word === 'SUCCESS') return 'passed';
  if (word === 'SKIPPED' || word === 'NEUTRAL') return 'skipped';
  return failures.has(word) ? 'failed' : 'pending';
}

/** A cancelled check did not run, and a check that did not run has failed. */
const failures = new Set(['ERROR', 'FAILURE', 'TIMED_OUT', 'ACTION_REQUIRED', 'STARTUP_FAILURE', 'CANCELLED']);

function summed(checks: ForgeCheck[]): ForgeChecks {
  const has = (state: ForgeCheck['state']) => checks.some((check) => check.state === state);
  const state = has('failed') ? 'failed' : has('pending') ? 'pending' : has('passed') ? 'passed' : 'none';
  return { state, checks };
}
