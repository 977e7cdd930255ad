import type { Home } from '@pawl/protocol/home';
import { keepOut } from '@pawl/roster/anchor/exclude';
import { withoutParagraph, withParagraph } from '@pawl/roster/hooks/agents-paragraph';
import { withHooks, withoutHooks } from '@pawl/roster/hooks/claude-settings';
import { projectRoot } from '@pawl/roster/project-root';
import { isInside } from '@pawl/roster/roster';
import { PawlError } from '@pawl/schema/error';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { CommandContext } from '../context.ts';
import { reachDaemon } from '../launch.ts';
import type { Person } from '../person.ts';
import { agrees, atTerminal } from '../person.ts';
import { isDefaultHome, shellWord } from '../shell-word.ts';
import { printable, printableLine } from '../terminal.ts';

export type HooksOptions = { project?: string; yes?: boolean; dryRun?: boolean; agentsMd?: boolean };

/** The personal settings of Claude Code in a project; it is not committed. */
const settingsFile = '.claude/settings.local.json';
const agentsFile = 'AGENTS.md';

/** A file as it would be: `after` is null when it goes away. */
type Edit = { file: string; before: string | null; after: string | null };

/** Puts the hooks of Claude Code and a paragraph for other agents into a checkout, after showing both. */
export async function installHooks(
  context: CommandContext,
  options: HooksOptions,
  person: Person = atTerminal(),
): Promise<number> {
  const root = projectRoot(options.project ?? '.');
  // The daemon writes the program that the hooks call.
  if (!existsSync(join(context.home.bin, 'pawl'))) await reachDaemon(context.home);
  const program = hookProgram(context.home);
  const edits = [
    edit(root, settingsFile, (text) => withHooks(text, program)),
    ...(options.agentsMd === false ? [] : [edit(root, agentsFile, withParagraph)]),
  ];
  return apply(context, { root, edits, verb: 'install' }, options, person);
}

/** Takes both out again, and leaves everything else in those files as it is. */
export async function uninstallHooks(
  context: CommandContext,
  options: HooksOptions,
  person: Person = atTerminal(),
): Promise<number> {
  const root = projectRoot(options.project ?? '.');
  const edits = [
    edit(root, settingsFile, (text) => (text === null ? null : withoutHooks(text))),
    edit(root, agentsFile, (text) => {
      const rest = text === null ? '' : withoutParagraph(text);
      return rest.trim() === '' ? null : rest;
    }),
  ];
  return apply(context, { root, edits, verb: 'remove' }, options, person);
}

/** Says whether the hooks are in place. */
export function hooksStatus(context: CommandContext, options: HooksOptions): number {
  const root = projectRoot(options.project ?? '.');
  const program = hookProgram(context.home);
  const isSame = ({ before, after }: Edit) => before === after;
  const claude = isSame(edit(root, settingsFile, (text) => withHooks(text, program)));
  const agents = isSame(edit(root, agentsFile, withParagraph));
  const word = (installed: boolean) => (installed ? 'installed' : 'not installed');
  context.answer('hooks', { root, claude, agents }, () =>
    [`${settingsFile}: ${word(claude)}`, `${agentsFile}: ${word(agents)}`].join('\n'),
  );
  return 0;
}

async function apply(
  context: CommandContext,
  { root, edits, verb }: { root: string; edits: Edit[]; verb: 'install' | 'remove' },
  options: HooksOptions,
  person: Person,
): Promise<number> {
  const changed = edits.filter(({ before, after }) => before !== after);
  const files = changed.map(({ file, after }) => ({ file, change: after === null ? 'removed' : 'written' }));
  for (const each of changed) context.say(describe(each));
  const isAsked = !context.json && person.present && !options.yes && !options.dryRun && changed.length > 0;
  const refused =
    isAsked && !agrees(await person.ask(`${verb === 'install' ? 'Write' : 'Change'} these files? [y/N] `));
  const done = !options.dryRun && !refused;
  if (done) for (const each of changed) write(root, each);
  context.answer('hooks', { root, files, done }, () => outcome(verb, files, done, context));
  return 0;
}

function outcome(
  verb: 'install' | 'remove',
  files: { file: string; change: string }[],
  done: boolean,
  { colours }: CommandContext,
): string {
  if (files.length === 0) return verb === 'install' ? 'the hooks are installed already' : 'no hooks are installed';
  if (!done) return 'nothing was changed';
  const lines = files.map(({ file, change }) => `${file} ${change}`);
  if (files.some(({ file }) => file === agentsFile)) lines.push(`commit ${agentsFile} to share it`);
  if (verb === 'install') lines.push(colours.dim('undo: pawl hooks uninstall'));
  return lines.join('\n');
}

/** Shows the lines that an edit adds and takes away. */
function describe({ file, before, after }: Edit): string {
  const [old, next] = [before ?? '', after ?? ''].map((text) => text.split('\n'));
  const added = (next ?? []).filter((line) => line !== '' && !old?.includes(line));
  const removed = (old ?? []).filter((line) => line !== '' && !next?.includes(line));
  const lines = [...removed.map((line) => `- ${line}`), ...added.map((line) => `+ ${line}`)];
  return `${file}:\n${printable(lines.join('\n'))}\n`;
}

function edit(root: string, file: string, change: (text: string | null) => string | null): Edit {
  const path = target(root, file);
  const before = existsSync(path) ? readFileSync(path, 'utf8') : null;
  try {
    return { file, before, after: change(before) };
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    const { code, message, hint } = error;
    throw new PawlError(code, `${printableLine(path)}: ${message}`, hint === undefined ? {} : { hint });
  }
}

/** Where a file really is. A link may lead to another file of the checkout, as AGENTS.md often does, and no further. */
function target(root: string, file: string): string {
  const path = join(root, file);
  if (!existsSync(path)) return path;
  const real = realpathSync(path);
  if (isInside(real, realpathSync(root)) && statSync(real).isFile()) return real;
  throw new PawlError('conflict', `${path} is a link that leads out of the checkout, or no plain file.`, {
    hint: 'Nothing was changed. Replace it with a plain file, then repeat this.',
  });
}

function write(root: string, { file, after }: Edit): void {
  const path = target(root, file);
  if (after === null) return rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.pawl-${process.pid}`;
  writeFileSync(draft, after, { flag: 'wx', mode: existsSync(path) ? statSync(path).mode & 0o777 : 0o644 });
  renameSync(draft, path);
  // An untracked file would make the checkout count as dirty.
  if (file === settingsFile) keepOut(root, `/${settingsFile}`);
}

/** The command that Claude Code runs: Pawl's own launcher, with the home where that is not the default one. */
function hookProgram(home: Home): string {
  const program = shellWord(join(home.bin, 'pawl'));
  return isDefaultHome(home) ? program : `PAWL_HOME=${shellWord(home.root)} ${program}`;
}
