import type { WorkMode } from '@pawl/schema/record';
import type { PromptAssets } from './assets.ts';

/** How much an agent of a mode is told about speaking with others. */
const amountOf: Record<WorkMode, 'full' | 'minimal' | 'lasting' | 'none'> = {
  execute: 'full',
  detail: 'full',
  discuss: 'full',
  verify: 'full',
  merge: 'full',
  review: 'full',
  plan: 'minimal',
  refine: 'minimal',
  'refine-chat': 'minimal',
  errand: 'minimal',
  'conflict-resolution': 'none',
  coordinate: 'lasting',
  converse: 'lasting',
};

/** What a subagent, which is a leaf and speaks with its main only, has no use for. */
const notForSubagents = ['fork', 'work', 'errand', 'delegate', 'result', 'ask', 'task add'];

/** The commands for an agent of a kind, as the lines of the generated list: `` - `pawl <command> …`: … ``. */
export function commandLines({ commands }: PromptAssets, kind: 'main' | 'subagent'): string {
  if (kind === 'main') return commands;
  const isKept = (line: string) => !notForSubagents.some((name) => line.startsWith(`- \`pawl ${name}`));
  return commands.split('\n').filter(isKept).join('\n');
}

/**
 * What an agent is told about the others, or null. A section that mentions a command which is not in the list is left out,
 * so the text never speaks of what cannot be done, and grows with the command line.
 */
export function communicationText(assets: PromptAssets, mode: WorkMode, commands: string): string | null {
  const amount = amountOf[mode];
  if (amount === 'none') return null;
  const known = new Set([...commands.matchAll(/^- `pawl ([a-z-]+(?: [a-z-]+)*)/gm)].map(([, name]) => name));
  return assets.communication[amount]
    .split(/\n(?=## )/)
    .filter((section) => commandsIn(section).every(([name, first]) => known.has(name) || known.has(first)))
    .join('\n')
    .trim();
}

/** The commands that a text mentions: their first two words, and the first alone. */
function commandsIn(text: string): [name: string, first: string][] {
  return [...text.matchAll(/\bpawl ([a-z-]+)(?: ([a-z-]+))?/g)].map(([, first = '', second]) => [
    second === undefined ? first : `${first} ${second}`,
    first,
  ]);
}
