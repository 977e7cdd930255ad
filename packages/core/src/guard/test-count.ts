import type { Finding, TestCount } from '@pawl/schema/change';

/** In what way fewer tests ran than before, if so. A runner whose words cannot be read any more is no better than one that ran nothing. */
export function compareCounts(before: TestCount | null, after: TestCount | null): Finding[] {
  if (before === null) return [];
  if (after === null) {
    return [{ kind: 'tests-unreadable', detail: `${before.run} tests ran before, and now none can be counted` }];
  }
  const findings: Finding[] = [];
  if (after.run < before.run) {
    findings.push({
      kind: 'fewer-tests',
      detail: `fewer tests run: ${before.run} before, ${after.run} now`,
      tests: before.run - after.run,
    });
  }
  if (after.skipped > before.skipped) {
    findings.push({
      kind: 'more-skips',
      detail: `more tests are skipped: ${before.skipped} before, ${after.skipped} now`,
      tests: after.skipped - before.skipped,
    });
  }
  return findings;
}

/** Those findings that were not accepted yet: of another kind, or about more tests. */
export function notAccepted(findings: readonly Finding[], accepted: readonly Finding[]): Finding[] {
  return findings.filter(
    ({ kind, tests = 0 }) => !accepted.some((each) => each.kind === kind && (each.tests ?? 0) >= tests),
  );
}
