import type { Finding, TestCount } from '@pawl/schema/change';

/** Compares test counts. Output that can no longer be parsed is as bad as no tests. */
export function compareCounts(before: TestCount | null, after: TestCount | null): Finding[] {
  if (before === null) return [];
  if (after === null) {
    return [
      { kind: 'tests-unreadable', detail: `${before.run} tests ran before, and now the output cannot be counted` },
    ];
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

/** Findings not accepted yet: of another kind, or about more tests. */
export function notAccepted(findings: readonly Finding[], accepted: readonly Finding[]): Finding[] {
  return findings.filter(
    ({ kind, tests = 0 }) => !accepted.some((each) => each.kind === kind && (each.tests ?? 0) >= tests),
  );
}
