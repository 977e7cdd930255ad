import type { RuleRequest } from '@pawl/schema/rule';
import type { JudgingRule } from '../../src/rules/judge-request.ts';
import { judgeRequest } from '../../src/rules/judge-request.ts';

export const worktree = '/home/ada/work/tree';

export function allow(match: string): JudgingRule {
  return { effect: 'allow', match };
}

export function deny(match: string): JudgingRule {
  return { effect: 'deny', match };
}

export function aCommand(command: string, cwd: string | null = worktree): RuleRequest {
  return { kind: 'command', tool: 'Bash', command, cwd, worktree };
}

/** A request for files that are where their paths say, unless `real` is given. */
export function aFile(tool: string, given: string, real: string | null = `${worktree}/${given}`): RuleRequest {
  return { kind: 'file', tool, paths: [{ given, real }], cwd: worktree, worktree };
}

export function aHost(host: string): RuleRequest {
  return { kind: 'network', tool: 'WebFetch', host, cwd: worktree, worktree };
}

export function effectOf(rules: JudgingRule[], request: RuleRequest): string {
  return judgeRequest(rules, request).effect;
}
