import type { Rule, RuleRequest } from '@pawl/schema/rule';
import { canonicalTool, nameCovers } from '../definitions/tool-name.ts';
import { cutText } from '../shorten.ts';
import { allowsCommand, deniesCommand, findCommands, whyNeverAllowed } from './command-rule.ts';
import { allowsHost, deniesHost, readNetworkName } from './network-rule.ts';
import { allowsPaths, deniedTogether, deniesPaths, isPathTool, isWithin, maySearch } from './path-rule.ts';
import type { RuleMatch } from './rule-match.ts';
import { parseRule } from './rule-match.ts';
import { parseCommand } from './shell-words.ts';

/** The part of a rule that decides. */
export type JudgingRule = Pick<Rule, 'effect' | 'match'>;

/** `rules` are those that decided: none for `ask`, several for commands joined by `&&`. */
export type Judgement<R extends JudgingRule> = { effect: 'allow' | 'deny' | 'ask'; rules: R[]; reason: string };

type Parsed<R> = { rule: R; match: RuleMatch };

/**
 * Judges a request by rules: one deny rule denies it; without one, it is allowed if allow rules cover all of it;
 * everything else is asked.
 */
export function judgeRequest<R extends JudgingRule>(rules: readonly R[], request: RuleRequest): Judgement<R> {
  const parsed: Parsed<R>[] = [];
  const unreadable: R[] = [];
  for (const rule of rules) {
    try {
      parsed.push({ rule, match: parseRule(rule.effect, rule.match) });
    } catch {
      unreadable.push(rule);
    }
  }
  const commands = request.command === undefined ? [] : findCommands(request.command);
  const denies = parsed.filter(({ rule }) => rule.effect === 'deny');
  const denied = denies.find(({ match }) => isDenied(match, request, commands));
  if (denied !== undefined) return decided('deny', [denied.rule]);
  const broken = unreadable.find(({ effect }) => effect === 'deny');
  if (broken !== undefined) return ask(`the deny rule “${cutText(broken.match, 100)}” cannot be read`);
  const searched = denies.find(({ match }) => match.kind === 'tool' && isSearched(match, request));
  if (searched !== undefined) return ask(`it may reach files that the rule “${searched.rule.match}” denies`);
  if (request.unclear !== undefined) return ask(`it has ${request.unclear}, which no rule allows`);
  return judgeAllowed(
    parsed.filter(({ rule }) => rule.effect === 'allow'),
    request,
  );
}

function isDenied(match: RuleMatch, request: RuleRequest, commands: ReturnType<typeof findCommands>): boolean {
  if (match.kind === 'command') return deniesCommand(match.words, commands);
  if (match.kind === 'network') {
    const asked = readNetworkName(request.host ?? '');
    return request.host !== undefined && (asked === null ? match.name.host === '*' : deniesHost(match.name, asked));
  }
  return coversTool(match, request) && (match.path === null || deniesPaths(match.path, request));
}

function isSearched(match: Extract<RuleMatch, { kind: 'tool' }>, request: RuleRequest): boolean {
  return match.path !== null && coversTool(match, request) && maySearch(match.path, request);
}

function coversTool({ tool }: Extract<RuleMatch, { kind: 'tool' }>, request: RuleRequest): boolean {
  return deniedTogether(tool).some((one) => nameCovers(one, canonicalTool(request.tool)));
}

function judgeAllowed<R extends JudgingRule>(allows: Parsed<R>[], request: RuleRequest): Judgement<R> {
  if (request.kind === 'command') return judgeCommand(allows, request);
  const found = allows.find(({ match }) => isAllowed(match, request));
  return found === undefined ? ask('no rule matches') : decided('allow', [found.rule]);
}

/** A request for a path or a host is allowed by them only: a tool that reaches more than was asked for is not. */
function isAllowed(match: RuleMatch, request: RuleRequest): boolean {
  if (match.kind === 'command') return false;
  if (match.kind === 'network') {
    const asked = readNetworkName(request.host ?? '');
    return request.kind === 'network' && asked !== null && allowsHost(match.name, asked);
  }
  const tool = canonicalTool(request.tool);
  const isOfHost = request.kind === 'network' && tool !== 'WebSearch';
  if (isOfHost || request.command !== undefined || !nameCovers(match.tool, tool)) return false;
  return isPathTool(tool) || request.kind === 'file' ? allowsPaths(match.path, request) : match.path === null;
}

/** Each of the commands joined by `&&` needs a rule, and they must run in the worktree. */
function judgeCommand<R extends JudgingRule>(allows: Parsed<R>[], request: RuleRequest): Judgement<R> {
  const patterns = allows.flatMap(({ rule, match }) =>
    match.kind === 'command' ? [{ rule, words: match.words }] : [],
  );
  if (patterns.length === 0) return ask('no rule matches');
  const { commands, obstacle } = parseCommand(request.command ?? '');
  const never = obstacle ?? commands.map(whyNeverAllowed).find((why) => why !== null) ?? null;
  if (never !== null) return ask(`it has ${never}, which no rule allows`);
  if (!isWithin(request.worktree, request.cwd)) return ask('it runs outside the worktree');
  const found = commands.map((words) => patterns.find((each) => allowsCommand(each.words, words))?.rule);
  const used = found.filter((rule) => rule !== undefined);
  return used.length === commands.length ? decided('allow', [...new Set(used)]) : ask('no rule matches');
}

function decided<R extends JudgingRule>(effect: 'allow' | 'deny', rules: R[]): Judgement<R> {
  const texts = rules.map(({ match }) => `“${cutText(match, 200)}”`).join(' and ');
  return { effect, rules, reason: `the rule ${texts} ${effect === 'allow' ? 'allows' : 'denies'} it` };
}

function ask(reason: string): Judgement<never> {
  return { effect: 'ask', rules: [], reason };
}
