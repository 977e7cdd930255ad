/** Tags that the assembly adds, beyond those of templates. */
export const addedTags = {
  past: 'conversation_so_far',
  dependencies: 'dependency_results',
  definition: 'agent_definition',
  commands: 'pawl_commands',
  custom: 'repository_instructions',
  workspace: 'workspace',
  communication: 'inter_agent_communication',
  mail: 'mail',
  letter: 'letter',
} as const;

/** Tags of notices in the middle of a run. */
const noticeTags = [
  'interrupted',
  'missing_signal',
  'provider_error',
  'account_switched',
  'uncommitted',
  'output_refused',
  'answers',
];

/** Inner tags that our own texts use. */
const innerTags = ['examples', 'example'];

/** Wraps a text in a tag. */
export function block(tag: string, text: string): string {
  return `<${tag}>\n${text.trim()}\n</${tag}>`;
}

/**
 * Returns a function that escapes foreign text for a prompt, so that it can neither open nor close one of our tags,
 * even with spaces or invisible characters inside. Everything else stays as it is.
 */
export function createEscape(templateTags: Iterable<string>): (text: string) => string {
  const known = new Set([...Object.values(addedTags), ...noticeTags, ...innerTags, 'signal_format', ...templateTags]);
  const invisible = String.raw`\p{Default_Ignorable_Code_Point}\0-\x08\x0B-\x1F\x7F-\x9F`;
  const between = `[${invisible}]*`;
  const around = String.raw`[\s${invisible}]*`;
  // A model ignores invisible characters inside a name.
  const names = [...known].map((name) => name.split('').join(between)).join('|');
  const pattern = new RegExp(`<(${around}(?:/${around})?(?:${names})\\b)`, 'giu');
  return (text) => text.replaceAll(pattern, '&lt;$1');
}
