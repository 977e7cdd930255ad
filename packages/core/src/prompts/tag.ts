import type { PromptAssets } from './assets.ts';

/** The tags that are not in any template: what the assembly itself adds. */
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

/** The tags of what an agent is told in the middle of its work. */
const noticeTags = ['interrupted', 'missing_signal', 'provider_error', 'account_switched', 'uncommitted', 'answers'];

/** Inner tags that our own texts use. */
const innerTags = ['examples', 'example'];

/** A text between its tags. */
export function block(tag: string, text: string): string {
  return `<${tag}>\n${text.trim()}\n</${tag}>`;
}

/**
 * Makes a function that lets foreign text be shown in a prompt: nothing in what it returns can open or close one of our
 * tags. Spaces and invisible characters inside of a tag do not help; everything else stays as it was.
 */
export function foreignText(assets: PromptAssets): (text: string) => string {
  const known = quotes.get(assets) ?? makeQuote(assets);
  quotes.set(assets, known);
  return known;
}

/** One for each set of texts: the pattern names every tag there is. */
const quotes = new WeakMap<PromptAssets, (text: string) => string>();

function makeQuote({ modes }: PromptAssets): (text: string) => string {
  const known = new Set([...Object.values(addedTags), ...noticeTags, ...innerTags, 'signal_format']);
  for (const parts of Object.values(modes)) for (const { tag } of parts) known.add(tag);
  const invisible = String.raw`\p{Default_Ignorable_Code_Point}\0-\x08\x0B-\x1F\x7F-\x9F`;
  const between = `[${invisible}]*`;
  const around = String.raw`[\s${invisible}]*`;
  // A model reads a name with something invisible inside as that name.
  const names = [...known].map((name) => name.split('').join(between)).join('|');
  const pattern = new RegExp(`<(${around}(?:/${around})?(?:${names})\\b)`, 'giu');
  return (text) => text.replaceAll(pattern, '&lt;$1');
}
