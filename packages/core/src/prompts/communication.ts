import type { WorkMode } from '@pawl/schema/record';
import type { PromptAssets } from './assets.ts';

/** How much a mode's prompt says about talking to other agents. */
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
  answer: 'minimal',
};

/** Commands that a subagent, which talks to its main only, cannot use. */
const notForSubagents = ['fork', 'work', 'errand', 'delegate', 'result', 'ask', 'task add'];

/** The commands for a kind of agent, as lines of the generated list: `` - `pawl <command> …`: … ``. */
export function commandLines({ commands }: PromptAssets, kind: 'main' | 'subagent'): string {
  if (kind === 'main') return commands;
  const isKept = (line: string) => !notForSubagents.some((name) => line.startsWith(`- \`pawl ${name}`));
  return commands.split('\n').filter(isKept).join('\n');
}

/**
 * The text about other agents, or null. Drops sections that mention a command missing from the list, so that the text
 * never offers something unavailable.
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

/** The commands that a text mentions: two-word names, and first words. */
function commandsIn(text: string): [name: string, first: string][] {
  return [...text.matchAll(/\bpawl ([a-z-]+)(?: ([a-z-]+))?/g)].map(([, first = '', second]) => [
    second === undefined ? first : `${first} ${second}`,
    first,
  ]);
}
