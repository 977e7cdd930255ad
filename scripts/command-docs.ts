import { buildProgram } from '@pawl/cli/program';
import { errorCodes } from '@pawl/schema/error';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Command = ReturnType<typeof buildProgram>;

const exitMeanings: [number, string][] = [
  [0, 'it worked'],
  [1, 'it failed'],
  [2, 'the command or its input is wrong'],
  [3, 'not found'],
  [4, 'conflict, or ambiguous'],
  [5, 'it took too long'],
  [6, 'a budget is used up'],
  [7, 'a person has to answer first'],
  [8, 'not allowed'],
  [9, 'no daemon answers'],
  [130, 'interrupted (SIGINT)'],
  [143, 'terminated (SIGTERM)'],
];

/** Renders the page about the command line from the command table. */
export function commandPage(): string {
  const program = buildProgram(() => {});
  const commands = program.commands.filter((command) => command.name() !== 'scripted-agent');
  const codes = exitMeanings.map(([code, meaning]) => {
    const names = Object.entries(errorCodes)
      .filter(([, { exit }]) => exit === code)
      .map(([name]) => `\`${name}\``);
    return `| ${code} | ${meaning} | ${names.join(', ')} |`;
  });
  return `# Commands

This page is made from the command table by \`node scripts/command-docs.ts\`; a test keeps it true.

\`pawl --help\` shows the everyday commands, \`pawl help --all\` all of them by topic, and \`pawl help <command>\` or \`pawl <command> --help\` one.

Every command but \`completion\`, \`help\`, \`hook\` and \`mcp\` takes \`--json\` and \`-q\`, \`--quiet\` (print nothing but errors). With \`--json\` a command prints one envelope, \`{"pawl":1,"kind":"…","data":…}\`, on stdout; \`logs\`, \`events\`,
\`history\` and \`top\` print one per line. A failure is \`{"pawl":1,"kind":"error","error":{"code","message","hint"}}\` on stderr. \`NO_COLOR\` turns colours off. Only
\`init\`, \`work\`, \`fork\`, \`errand start\`, \`hooks\`, \`trust\`, \`worktree prune\` and \`session end\` ask questions, and only on a terminal; an option answers each. An agent is named by its alias, its id, or the first four or more characters of its id.

${commands.flatMap((command) => sections(command, 'pawl')).join('\n')}
## Exit codes

| code | meaning | error codes |
| --- | --- | --- |
${codes.join('\n')}

## Environment

| variable | meaning |
| --- | --- |
| \`PAWL_HOME\` | the home, by default \`~/.pawl\` |
| \`PAWL_PORT\` | the daemon's port on 127.0.0.1; \`port:\` in \`config.yaml\` does the same; by default any free one |
| \`PAWL_PROVIDER\` | the provider of \`pawl work\` |
| \`NO_COLOR\`, \`FORCE_COLOR\` | colours off, or on although nobody watches |
| \`PAWL_DEBUG\` | shows where an unexpected error came from |
`;
}

/** Common options. */
const everywhere = new Set(['--help', '--json', '--quiet']);

/** The section of a command, with its subcommands. */
function sections(command: Command, above: string): string[] {
  const name = `${above} ${command.name()}`;
  return [section(command, name), ...command.commands.flatMap((each) => sections(each, name))];
}

function section(command: Command, name: string): string {
  const help = command.createHelp();
  const words = command.registeredArguments.map((argument) => {
    const word = argument.variadic ? `${argument.name()}...` : argument.name();
    return [argument.required ? `\`<${word}>\`` : `\`[${word}]\``, argument.description];
  });
  const options = help
    .visibleOptions(command)
    .filter((option) => !everywhere.has(option.long ?? ''))
    .map((option) => [`\`${option.flags}\``, option.description]);
  const rows = [...words, ...options]
    .filter(([, text]) => text !== '')
    .map(([first, text]) => `| ${first} | ${text} |`);
  const table = rows.length === 0 ? '' : `\n| | |\n| --- | --- |\n${rows.join('\n')}\n`;
  return `## ${name}\n\n${command.description()}\n\n\`\`\`sh\n${exampleOf(command)}\n\`\`\`\n${table}`;
}

/** The example at the end of a command's help. */
function exampleOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return (/Example:\n([^]*)$/.exec(text)?.[1] ?? '').replaceAll(/^ {2}/gm, '').trim();
}

/**
 * The commands for agents, by their first words. A planned command joins the list, and so the agents' prompts, once it
 * exists.
 */
const agentCommandNames =
  'ps history work fork delegate result mark rewind gate task change queue id send mail read ack wait ask listen answer complete';
const agentCommands = new Set(agentCommandNames.split(' '));
/** Subcommands for people only. */
const peoplesCommands = new Set([
  'task block',
  'task unblock',
  'task done',
  'change approve',
  'change fix',
  'change block',
  'change unblock',
  'queue allow-push',
  'queue check',
  'queue forbid-push',
  'queue pause',
  'queue resume',
]);

/** The list of commands in agents' prompts, one per line. */
export function agentCommandPage(): string {
  const program = buildProgram(() => {});
  const lines = program.commands
    .filter((command) => agentCommands.has(command.name()))
    .flatMap((command) => commandLines(command, ''));
  return `${agentPageHead}\n\n${lines.join('\n')}\n`;
}

const agentPageHead =
  '`pawl` is the program that runs you; where it is not found by that name, call it as `"$PAWL_BIN"`. It knows who you are, ' +
  'and lets you act as yourself only. An agent is named by its alias or id. `--json` prints JSON, `--help` all options.';

function commandLines(command: Command, above: string): string[] {
  const name = `${above}${command.name()}`;
  if (command.commands.length > 0) return command.commands.flatMap((each) => commandLines(each, `${name} `));
  if (peoplesCommands.has(name)) return [];
  const words = command.registeredArguments.map((argument) => {
    const word = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${word}>` : `[${word}]`;
  });
  const example = exampleOf(command).split('\n', 1)[0] ?? '';
  return [`- \`${['pawl', name, ...words].join(' ')}\`: ${command.description()}. Example: \`${example}\``];
}

if (process.argv[1] === import.meta.filename) {
  const root = join(import.meta.dirname, '..');
  writeFileSync(join(root, 'docs', 'commands.md'), commandPage());
  writeFileSync(join(root, 'packages', 'daemon', 'prompts', 'cli.md'), agentCommandPage());
}
