import { ownServer } from '@pawl/schema/mcp';
import type { Decision } from '../loop/turn.ts';
import type { GateRequest } from '../tools/tool.ts';
import type { Access } from './arguments.ts';

/** Tools that change nothing. */
const harmless = new Set(['Read', 'Glob', 'Grep', 'Todo', 'get_repo_info', 'BashOutput', 'Finish', 'Skill']);

/** Pawl's own verbs as tools. They open no file and run no program, and the daemon checks each. */
const ownVerb = `mcp__${ownServer}__`;

/** One of Pawl's own commands, with nothing that a shell would expand or join to it: the daemon checks each itself. */
const ownCommand = /^pawl(?: +(?:[\w./:@=,+-]+|'[^'\n]*'|"[^"`$\\\n]*"))* *$/;

/** Decides what the access level alone decides; `ask` leaves the rest to a person. Pure. */
export function judgeAccess(access: Access, { tool, input }: GateRequest): Decision | 'ask' {
  if (access === 'full' || harmless.has(tool) || tool.startsWith(ownVerb)) return { allow: true };
  if (tool === 'Bash' && ownCommand.test(String(input['command']))) return { allow: true };
  if (access === 'ask') return 'ask';
  return { allow: false, reason: `Denied: ${tool} is not available with read-only access.` };
}
