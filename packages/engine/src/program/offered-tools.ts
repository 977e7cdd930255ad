import { ownServer } from '@pawl/schema/mcp';
import type { Tool } from '../tools/tool.ts';
import type { Arguments } from './arguments.ts';

const ownVerbs = `mcp__${ownServer}__`;

/** Names in lists of tools that mean a tool of another name here. */
const synonyms: Record<string, string[]> = { BashOutput: ['Bash'], Todo: ['TodoWrite'], Edit: ['MultiEdit'] };

/** The tools that the command line allows. Pawl's own verbs need not be listed: the daemon decides about each call. */
export function offered(all: readonly Tool[], { tools, disallowed }: Pick<Arguments, 'tools' | 'disallowed'>): Tool[] {
  return all.filter(({ name, gateName = name }) => {
    const has = (list: string[]) => list.some((entry) => covers(entry, gateName) || synonyms[name]?.includes(entry));
    return (tools === null || gateName.startsWith(ownVerbs) || has(tools)) && !has(disallowed);
  });
}

/** True if an entry of a list names a tool: by its name, `*`, or the beginning of the names of a server's tools. */
function covers(entry: string, name: string): boolean {
  return entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : entry === name;
}
