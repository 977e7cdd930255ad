import type { ClaudeLine, TurnEnd, TurnNumbers } from '@pawl/wire/claude-line';
import { initLine, inSession, resultLine } from '@pawl/wire/claude-line';

/** Whose lines are written. */
export type Speaker = { sessionId: string; model: string };

const ownTools = ['Bash', 'Edit', 'Read', 'Write'];

/** The first line of a process. */
export function firstLine(
  { sessionId, model }: Speaker,
  cwd: string,
  isAllowed: (tool: string) => boolean,
): ClaudeLine {
  const tools = ownTools.filter(isAllowed);
  const line = initLine({ cwd, model, tools, permissionMode: 'bypassPermissions', apiKeySource: 'none' });
  return inSession(line, sessionId);
}

/** The end of a turn. */
export function lastLine(sessionId: string, end: TurnEnd, numbers: TurnNumbers): ClaudeLine {
  const reason = end.isError ? {} : { terminalReason: 'completed' as const };
  return inSession(resultLine({ ...end, ...reason }, numbers), sessionId);
}
