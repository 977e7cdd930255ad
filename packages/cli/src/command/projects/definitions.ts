import { fit, printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import type { DefinitionList } from '@pawl/protocol/definitions/view';
import { PawlError } from '@pawl/schema/error';
import { resolve } from 'node:path';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { table } from '../../terminal/table.ts';

type Definition = DefinitionList['definitions'][number];

const columns = [
  { title: 'DEFINITION' },
  { title: 'KIND' },
  { title: 'CLASS' },
  { title: 'ROLE' },
  { title: 'PROVIDER' },
  { title: 'TOOLS' },
  { title: 'POLICY' },
  { title: 'FROM', flexible: true },
];
/** How much of a long list of tools or actions is shown; --json has all. */
const listColumns = 28;

/** Lists the definitions here, and files that are broken or ask for more than they get. */
export async function definitions(context: CommandContext, options: { project?: string }): Promise<number> {
  const list = await ask(context, options.project);
  const { colours } = context;
  context.answer('definitions', list, () => {
    const rows = list.definitions.map((definition) => [
      span(definition.id, 'strong'),
      definition.kind,
      definition.class,
      definition.role ?? '-',
      definition.provider ?? '-',
      fit(toolsOf(definition), listColumns),
      fit(policyOf(definition), listColumns),
      definition.sources.map(({ layer, path }) => (layer === 'built-in' ? layer : path)).join(' + '),
    ]);
    const place = ({ path, line, reason }: DefinitionList['problems'][number]) =>
      `${printableLine(path)}:${line}  ${printableLine(reason)}`;
    return [
      table(columns, rows, colours, context.columns),
      ...list.problems.map((problem) => colours.red(place(problem))),
      ...list.notices.map((notice) => colours.yellow(place(notice))),
      ...(list.notices.length === 0
        ? []
        : [colours.dim('read these files, and if you agree with what they ask for: pawl trust')]),
    ].join('\n');
  });
  return 0;
}

/** For the project of the current directory, or, if there is none, for all projects. */
async function ask(context: CommandContext, project: string | undefined): Promise<DefinitionList> {
  try {
    return await withDaemon(context.home, (client) => client.definitions({ path: resolve(project ?? '.') }));
  } catch (error) {
    const outside = error instanceof PawlError && ['project_not_found', 'not_a_repository'].includes(error.code);
    if (!outside || project !== undefined) throw error;
    return withDaemon(context.home, (client) => client.definitions());
  }
}

function toolsOf({ tools, deniedTools }: Definition): string {
  const allowed = tools.length === 0 ? 'none' : tools.includes('*') ? 'all' : tools.join(',');
  return deniedTools.length === 0 ? allowed : `${allowed} but ${deniedTools.join(',')}`;
}

function policyOf({ policy: { allow, delegateTargets } }: Definition): string {
  const targets = delegateTargets.length === 0 ? '' : `(${delegateTargets.join(',')})`;
  return allow.map((action) => (action === 'Delegate' ? action + targets : action)).join(',') || '-';
}
