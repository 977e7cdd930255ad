import { PawlError } from '@pawl/schema/error';
import type { RuleRequest, RuleScope } from '@pawl/schema/rule';
import { canonicalTool } from '../definitions/tool-name.ts';
import { judgeRequest } from './judge-request.ts';
import { readNetworkName } from './network-rule.ts';
import { isPathTool } from './path-rule.ts';
import type { RuleMatch } from './rule-match.ts';
import { parseRule, ruleText } from './rule-match.ts';
import { parseCommand } from './shell-words.ts';

/** A rule that is not stored yet. */
export type RuleDraft = { scope: RuleScope; effect: 'allow' | 'deny'; match: string };

/**
 * Proposes the narrowest rule that allows a request again: the exact command, path, host or tool. Throws if no rule can
 * allow it.
 */
export function ruleFromRequest(request: RuleRequest, scope: RuleScope): RuleDraft {
  const draft: RuleDraft = { scope, effect: 'allow', match: ruleText(narrowest(request)) };
  // Parse what will be stored: a rule that does not allow this very request would surprise the person.
  parseRule('allow', draft.match);
  const { effect, reason } = judgeRequest([draft], request);
  if (effect !== 'allow') throw noRuleFor(reason);
  return draft;
}

function narrowest(request: RuleRequest): RuleMatch {
  const tool = canonicalTool(request.tool);
  if (request.kind === 'command') {
    const { commands, obstacle } = parseCommand(request.command ?? '');
    const [words] = commands;
    if (obstacle !== null || words === undefined) throw noRuleFor(`it has ${obstacle ?? 'no command'}`);
    if (commands.length > 1) throw noRuleFor('it has several commands; add a rule for each');
    return { kind: 'command', words: words.map(({ text, stars }) => ({ text, stars })) };
  }
  if (request.kind === 'network' && tool !== 'WebSearch') {
    const name = readNetworkName(request.host ?? '');
    if (name === null) throw noRuleFor('it names no host');
    return { kind: 'network', name };
  }
  if (request.kind === 'file' || isPathTool(tool)) return { kind: 'tool', tool, path: onlyPath(request) };
  return { kind: 'tool', tool, path: null };
}

/** The one path of a request, as a pattern for exactly this path. */
function onlyPath({ paths = [], worktree }: RuleRequest): string {
  const [first, ...others] = paths;
  if (first === undefined || others.length > 0) throw noRuleFor('it does not name one path');
  if (first.real === null) throw noRuleFor('its path cannot be resolved');
  if (/[*?]/.test(first.real)) throw noRuleFor('its path has a * or ?');
  const inside = worktree !== null && first.real.startsWith(`${worktree}/`);
  return inside ? first.real.slice(worktree.length + 1) : first.real;
}

function noRuleFor(why: string): PawlError {
  return new PawlError('invalid_input', `No rule can allow this request: ${why}.`, {
    hint: 'Allow it once, or write a rule yourself: pawl rules add.',
  });
}
