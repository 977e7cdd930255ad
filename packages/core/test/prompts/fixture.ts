import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PromptAssets } from '../../src/prompts/assets.ts';
import { readPromptAssets } from '../../src/prompts/assets.ts';

const directory = join(import.meta.dirname, '..', '..', '..', 'daemon', 'prompts');

/** A fixed list of commands, independent of the command line. */
const commandsOfToday = `The commands.

- \`pawl ps\`: list the agents. Example: \`pawl ps --json\`
- \`pawl fork [agent] [prompt]\`: fork an agent. Example: \`pawl fork brave-otter\`
- \`pawl task add <name>\`: add a task. Example: \`pawl task add "test the login"\`
- \`pawl ask <question>\`: ask another agent. Example: \`pawl ask "which port?" --agent-id brave-otter\`
- \`pawl listen\`: wait for a question. Example: \`pawl listen --agent-id brave-otter\`
- \`pawl answer <answer>\`: answer it. Example: \`pawl answer "port 8080" --conversation-id 4fGhXq\`
- \`pawl id\`: print a new id. Example: \`pawl id\``;

/** The files that prompts are assembled from, by path, with the given commands. */
export function assetFiles(commands = commandsOfToday): Map<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  return new Map([
    ...names.map((name) => [name, readFileSync(join(directory, name), 'utf8')] as const),
    ['cli.md', commands],
  ]);
}

/** The real assets, with the given commands. */
export function promptAssets(commands?: string): PromptAssets {
  return readPromptAssets(assetFiles(commands));
}

/** The names of a prompt's parts, in order. */
export const partsOf = (prompt: string): string[] =>
  [...prompt.matchAll(/^<(\w+)>\n[^]*?\n<\/\1>$/gm)].map(([, tag]) => tag ?? '');
