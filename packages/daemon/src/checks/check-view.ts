import type { CheckLog, CheckView } from '@pawl/protocol/checks/view';
import type { Change, Check } from '@pawl/schema/change';
import { PawlError } from '@pawl/schema/error';
import { limits } from '@pawl/schema/limit';
import { isEjected } from '@pawl/core/changes/change-state';
import { readCheckEnd } from '@pawl/store/changes/check-output';
import { checkById, recentChecks } from '@pawl/store/changes/checks';
import type { Database } from '@pawl/store/tables';

export function viewCheck(check: Check): CheckView {
  const { id, commit, tree, onto, changes, plannedAt, startedAt, endedAt, outcome, exitCode, counts } = check;
  return {
    id,
    commit,
    tree,
    onto,
    changes,
    plannedAt,
    startedAt,
    endedAt,
    outcome: outcome ?? 'running',
    detail: check.detail ?? (endedAt === null ? progressOf(check) : ''),
    counts,
    exitCode,
    steps: check.steps.map(({ name }) => name),
  };
}

function progressOf({ startedAt, steps, step }: Check): string {
  if (startedAt === null) return 'about to start';
  return `at ${steps[step]?.name ?? 'its end'} (${Math.min(step + 1, steps.length)} of ${steps.length})`;
}

/** The recent checks of a project that included this change, newest first. */
export function checksWith(recent: readonly Check[], { id }: Change, most: number): CheckView[] {
  return recent
    .filter(({ changes }) => changes.includes(id))
    .slice(0, most)
    .map(viewCheck);
}

/** The end of a check's output: of the named one, the one that ejected the change, or its latest. */
export async function readLog(db: Database, change: Change, reference: string | undefined): Promise<CheckLog> {
  if (reference !== undefined) return logOf(db, await namedCheck(db, change.projectId, reference));
  const cause = isEjected(change) ? (change.ejection?.checkId ?? null) : null;
  const found = cause === null ? null : await checkById(db, cause);
  const recent = await recentChecks(db, change.projectId, limits.searchedChecks);
  const latest = found ?? recent.find(({ changes }) => changes.includes(change.id));
  if (latest !== undefined) return logOf(db, latest);
  throw new PawlError('not_found', 'No check of this change has started yet.', { hint: 'See `pawl queue`.' });
}

/** The same for the target branch: the named check, or the latest of the branch itself. */
export async function readMainLog(db: Database, projectId: string, reference: string | undefined): Promise<CheckLog> {
  if (reference !== undefined) return logOf(db, await namedCheck(db, projectId, reference));
  const recent = await recentChecks(db, projectId, limits.searchedChecks);
  const latest = recent.find(({ changes }) => changes.length === 0);
  if (latest !== undefined) return logOf(db, latest);
  throw new PawlError('not_found', 'The target branch has no recent check.', {
    hint: 'Check it: pawl queue check',
  });
}

async function logOf(db: Database, check: Check): Promise<CheckLog> {
  const { chunks, leftOutBytes } = await readCheckEnd(db, check.id, limits.checkEndBytes);
  const steps = [...new Set(chunks.map(({ step }) => step))];
  const output = steps.map((step) => ({
    step: check.steps[step]?.name ?? `step ${step + 1}`,
    // Join before decoding: a character may span two chunks.
    text: Buffer.concat(chunks.filter((each) => each.step === step).map(({ bytes }) => bytes)).toString('utf8'),
  }));
  return { check: viewCheck(check), output, leftOutBytes };
}

async function namedCheck(db: Database, projectId: string, reference: string): Promise<Check> {
  const exact = await checkById(db, reference);
  if (exact !== null && exact.projectId === projectId) return exact;
  const recent = await recentChecks(db, projectId, limits.searchedChecks);
  const [first, ...others] = reference.length < 4 ? [] : recent.filter(({ id }) => id.startsWith(reference));
  if (first !== undefined && others.length === 0) return first;
  const code = first === undefined ? 'not_found' : 'ambiguous';
  throw new PawlError(code, `No single check matches ${JSON.stringify(reference.slice(0, 80))}.`, {
    hint: 'See `pawl queue` and `pawl change show`.',
  });
}
