/**
 * The field with a tool's argument. Only one per tool: with two, a model could fill the examined one with something
 * harmless. For other tools, and searches without a path, the argument is unknown.
 */
const argumentFields = new Map([
  ['Bash', 'command'],
  ['Read', 'file_path'],
  ['Write', 'file_path'],
  ['Edit', 'file_path'],
  ['MultiEdit', 'file_path'],
  ['NotebookEdit', 'notebook_path'],
  ['Glob', 'path'],
  ['Grep', 'path'],
  ['WebFetch', 'url'],
  ['WebSearch', 'query'],
  ['Agent', 'subagent_type'],
  ['Task', 'subagent_type'],
  ['Skill', 'skill'],
]);

/** The argument of a tool call that a definition may limit; undefined if it is unknown. */
export function toolArgument(tool: string, input: unknown): string | undefined {
  const record = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {};
  const argument = record[argumentFields.get(tool) ?? ''];
  return typeof argument === 'string' ? argument : undefined;
}
