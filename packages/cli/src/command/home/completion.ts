import tab from '@bomb.sh/tab';
import type { Command, Option } from 'commander';

/**
 * Shell completion: `pawl completion bash` prints the script, which calls `pawl completion complete -- …`. Suggestions
 * come from the command table itself, so they are never out of date.
 */
export function completion(program: Command, words: string[]): number {
  for (const option of program.options) addOption(tab, option);
  addCommands(program, '');
  const [first, ...rest] = words;
  if (first === 'complete') tab.parse(rest[0] === '--' ? rest.slice(1) : rest);
  else if (first === 'bash') process.stdout.write(bashScript);
  else tab.setup('pawl', 'pawl completion', first ?? '');
  return 0;
}

/**
 * For plain bash: needs no bash-completion package, may be sourced twice, and passes words on without evaluating them.
 * Without a suggestion, bash offers files.
 */
const bashScript = `_pawl_complete() {
  local word
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    [[ $word == :* ]] || COMPREPLY+=("$word")
  done < <(pawl completion complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _pawl_complete pawl
`;

/** Adds the commands of a group under their full names: `worktree`, `worktree ls`. */
function addCommands(group: Command, prefix: string): void {
  for (const command of group.createHelp().visibleCommands(group)) {
    const entry = tab.command(prefix + command.name(), command.description());
    for (const option of command.options) addOption(entry, option);
    // Commander creates a group's built-in help anew each time, without subcommands.
    if (command.commands.length > 0) addCommands(command, `${prefix}${command.name()} `);
  }
}

function addOption(
  entry: { option(name: string, description: string, alias?: string): unknown },
  option: Option,
): void {
  const name = option.long?.slice(2);
  if (name !== undefined) entry.option(name, option.description, option.short?.slice(1));
}
