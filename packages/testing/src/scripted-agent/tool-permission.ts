/**
 * Which tools the agent may use, as the command line says. A tool must be in every list of `allowed`, and in none of
 * those of `disallowed`; without any list everything is allowed. A list may name patterns such as `mcp__files__*`.
 */
export type ToolPermission = { allowed: { tools?: string[]; allowedTools?: string[] }; disallowed: string[] };

/** The tools in a value of the command line, separated by commas or spaces; null when one of them is not a name. */
export function parseToolList(text: string): string[] | null {
  const names = text.split(/[\s,]+/).filter((name) => name !== '');
  return names.every((name) => /^[\w*.-]+$/.test(name)) ? names : null;
}

/** True if a tool may be used. Permission to write includes permission to edit; a ban on writing includes editing. */
export function allowsTool(permission: ToolPermission, tool: string): boolean {
  const names = tool === 'Edit' ? ['Edit', 'Write'] : [tool];
  const isIn = (list: string[]) => names.some((name) => list.some((pattern) => matches(pattern, name)));
  return Object.values(permission.allowed).every(isIn) && !isIn(permission.disallowed);
}

/** A star stands for any characters. The pieces between stars are searched in order, so no pattern is slow. */
function matches(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return pattern === name;
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let from = first.length;
  for (const piece of rest) {
    const at = name.indexOf(piece, from);
    if (at === -1) return false;
    from = at + piece.length;
  }
  return from <= name.length - last.length;
}
