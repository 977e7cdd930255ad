import type { Approval } from './approval.ts';
import { isConnection } from './approval-kind.ts';

/** The whole text of a request, for a person to review. */
export function approvalText({
  kind,
  tool,
  title,
  detail,
  cwd,
  owner,
}: Pick<Approval, 'kind' | 'tool' | 'title' | 'detail' | 'cwd' | 'owner'>): string {
  if (isConnection({ kind, tool })) return `Network: ${title}\nits session may not reach this host`;
  const lines = [
    `${tool}: ${title}`,
    ...(cwd === null ? [] : [`in ${cwd}`]),
    ...(owner === null ? [] : [`asked by its subagent ${owner}`]),
    // A command is whole in the title, unless there is more to it.
    ...(kind === 'command' && detail === JSON.stringify({ command: title }) ? [] : [detail]),
  ];
  return lines.join('\n');
}
