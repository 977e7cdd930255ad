import type { RuleScope } from '@pawl/schema/rule';
import { isLoneStar } from './command-rule.ts';
import { isPathTool } from './path-rule.ts';
import type { RuleDraft } from './propose-rule.ts';
import type { RuleMatch } from './rule-match.ts';
import { parseRule, ruleText } from './rule-match.ts';

const reaches: Record<RuleScope, string> = {
  session: 'until this session ends',
  agent: 'for this agent, until the rule is removed',
  project: 'for every agent of this project, until the rule is removed',
  user: 'for every agent of yours, until the rule is removed',
};

/** Says in one sentence what a rule will do. The text must be a valid rule. */
export function describeRule({ scope, effect, match }: RuleDraft): string {
  const parsed = parseRule(effect, match);
  const text = ruleText(parsed).slice(parsed.kind.length + 1);
  const what = effect === 'allow' ? allowed(parsed, text) : denied(parsed, text);
  return `${effect === 'allow' ? 'Allows' : 'Denies'} ${what} ${reaches[scope]}${effect === 'allow' ? ', without asking' : ''}.`;
}

function allowed(match: RuleMatch, text: string): string {
  if (match.kind === 'network') {
    return match.name.port === null ? `connections to ${text}, ports 80 and 443,` : `connections to ${text}`;
  }
  if (match.kind === 'tool') {
    if (match.path !== null) return `${match.tool} on ${match.path}`;
    return isPathTool(match.tool)
      ? `${match.tool} on every file of the worktree whose path has no name with a leading dot,`
      : `every call of ${match.tool}, whatever its input,`;
  }
  const last = match.words.at(-1);
  if (last !== undefined && isLoneStar(last)) return `the command “${text}”, with any further words but no options,`;
  const isOpen = match.words.some(({ stars }) => stars.length > 0);
  return isOpen ? `the command “${text}”, with any text for *,` : `exactly the command “${text}”`;
}

function denied(match: RuleMatch, text: string): string {
  if (match.kind === 'network') return match.name.host === '*' ? 'all connections' : `connections to ${text}`;
  if (match.kind === 'tool')
    return match.path === null ? `every call of ${match.tool}` : `${match.tool} on ${match.path}`;
  return `every command that runs “${text}”`;
}
