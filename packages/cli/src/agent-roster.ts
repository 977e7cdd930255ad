import { printableLine } from '@pawl/present/text';
import { roster } from './command/home/roster.ts';
import { createContext } from './context.ts';

const usage = `Usage: agent-roster [--json] [-q] [project]

Prints the other agents at work in a project, one line each: pid, tab, directory.
Exits with 0 when alone, 1 when not alone, 2 when nobody can say.

Example:
  agent-roster ~/code/shop || echo "somebody else is here, or may be"
`;

/** The roster under the name that scripts use: the same as `pawl roster`, without loading the rest. */
function main(words: string[]): number {
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(usage);
    return 0;
  }
  const flags = words.filter((word) => word.startsWith('-'));
  const paths = words.filter((word) => !word.startsWith('-'));
  if (paths.length > 1 || flags.some((flag) => !['--json', '-q', '--quiet'].includes(flag))) {
    process.stderr.write(usage);
    return 2;
  }
  const quiet = flags.includes('-q') || flags.includes('--quiet');
  return roster(createContext({ json: flags.includes('--json'), quiet }), paths[0]);
}

// Exit code 1 means "not alone", so a failed check needs another one.
process.on('uncaughtException', (error) => {
  process.stderr.write(`roster: cannot tell: ${printableLine(error.message)}\n`);
  process.exit(2);
});
process.exitCode = main(process.argv.slice(2));
