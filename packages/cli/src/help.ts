import type { Command, Help } from 'commander';
import { Help as PlainHelp } from 'commander';

/** The everyday commands, in the order a newcomer needs them. */
const everyday = 'init work ps logs diff inbox reply change resume send stop doctor'.split(' ');

/** The first page of the help: a dozen commands within 24 lines. Subcommands have commander's own page. */
export function everydayHelp(command: Command, helper: Help): string {
  if (command.parent !== null) return new PlainHelp().formatHelp(command, helper);
  const width = Math.max(...everyday.map((name) => name.length));
  const lines = everyday.map((name) => {
    const found = command.commands.find((each) => each.name() === name);
    return `  ${name.padEnd(width)}  ${found?.description() ?? ''}`;
  });
  return `Usage: pawl <command> [options]

${command.description()}

Everyday commands:
${lines.join('\n')}

Example:
  pawl init && pawl work "fix the failing test" && pawl ps

pawl help --all lists every command; pawl help <command> explains one.
`;
}

/** Every command, by topic. */
export function wholeHelp(program: Command): string {
  return new PlainHelp().formatHelp(program, program.createHelp());
}
