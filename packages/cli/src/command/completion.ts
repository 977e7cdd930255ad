import tab from '@bomb.sh/tab';
import type { Command, Option } from 'commander';

/**
 * Shell completion: `pawl completion bash` prints the script, which calls back with `pawl completion complete -- …`.
 * The suggestions come from the command table itself, so they cannot be out of date.
 */
export function completion(program: Command, words: string[]): number {
  for (const option of program.options) addOption(tab, option);
  for (const command of program.commands.filter((each) => each.name() !== 'help')) {
    const entry = tab.command(command.name(), command.description());
    for (const option of command.options) addOption(entry, option);
  }
  const [first, ...rest] = words;
  if (first === 'complete') tab.parse(rest[0] === '--' ? rest.slice(1) : rest);
  else tab.setup('pawl', 'pawl completion', first ?? 'bash');
  return 0;
}

function addOption(
  entry: { option(name: string, description: string, alias?: string): unknown },
  option: Option,
): void {
  const name = option.long?.slice(2);
  if (name !== undefined) entry.option(name, option.description, option.short?.slice(1));
}
