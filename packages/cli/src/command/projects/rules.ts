import { ago } from '@pawl/present/amount';
import type { Cell } from '@pawl/present/table';
import { printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import type { AddRuleBody, RuleView } from '@pawl/protocol/rules/view';
import { PawlError } from '@pawl/schema/error';
import { isAbsolute, resolve } from 'node:path';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { projectWord } from '../../project/project-word.ts';
import { table } from '../../terminal/table.ts';

const columns = [
  { title: 'ID' },
  { title: 'EFFECT' },
  { title: 'FOR' },
  { title: 'BY' },
  { title: 'USED' },
  // Never cut: a person must see all of a rule.
  { title: 'RULE' },
];
const idCharacters = 8;

export async function listRules(context: CommandContext, now = Date.now()): Promise<number> {
  const list = await withDaemon(context.home, (client) => client.listRules({ path: resolve('.') }));
  context.answer('rules', list, () => {
    if (list.rules.length === 0) return 'no rules; add one with: pawl rules add --allow "command npm test" --project';
    const rows = list.rules.map((rule): Cell[] => [
      shortId(rule),
      effectCell(rule),
      reachOf(rule),
      rule.madeBy,
      rule.usedAt === null ? 'never' : ago(now - rule.usedAt),
      rule.match,
    ]);
    return table(columns, rows, context.colours, context.columns);
  });
  if (list.trouble !== null)
    context.say(`some rules cannot be read, so none allows anything: ${printableLine(list.trouble)}`);
  return 0;
}

function effectCell({ effect, counts }: RuleView): Cell {
  if (!counts) return span('not trusted', 'attention');
  return span(effect, effect === 'allow' ? 'good' : 'bad');
}

function reachOf({ scope, project, agent }: RuleView): string {
  if (scope === 'user') return 'everything';
  if (scope === 'project') return `project ${project ?? '?'}`;
  return `${scope === 'session' ? 'session of' : 'agent'} ${agent ?? '?'}`;
}

export type AddRuleOptions = { allow?: string; deny?: string; project?: string | true; agent?: string };

export async function addRule(context: CommandContext, options: AddRuleOptions): Promise<number> {
  const { allow, deny, project, agent } = options;
  const match = allow ?? deny;
  if (match === undefined || (allow !== undefined && deny !== undefined)) {
    throw new PawlError('usage', 'Give one rule, with --allow or --deny.', {
      hint: 'Such as: pawl rules add --allow "command npm test" --project',
    });
  }
  const effect = allow === undefined ? 'deny' : 'allow';
  const body: AddRuleBody = { effect, match, ...placeOf(project), ...(agent !== undefined && { agent }) };
  const answer = await withDaemon(context.home, (client) => client.addRule(body));
  context.answer('rule', answer, () => `${answer.rule.does}\nremove it with: pawl rules rm ${shortId(answer.rule)}`);
  return 0;
}

function placeOf(project: string | true | undefined): Pick<AddRuleBody, 'path' | 'project'> {
  if (project === undefined) return {};
  const word = projectWord(project === true ? '.' : project);
  return isAbsolute(word) ? { path: word } : { project: word };
}

export async function removeRule(context: CommandContext, reference: string): Promise<number> {
  const answer = await withDaemon(context.home, (client) => client.revokeRule(reference));
  context.answer('rule', answer, () => `removed the rule “${answer.rule.match}”`);
  return 0;
}

function shortId({ id }: RuleView): string {
  return id?.slice(0, idCharacters) ?? '-';
}
