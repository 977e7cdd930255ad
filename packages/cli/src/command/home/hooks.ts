import { printable, printableLine } from '@pawl/present/text';
import type { Home } from '@pawl/protocol/node/home';
import { anchorDirectory, ownLayout, singleton } from '@pawl/roster/anchor/anchor-path';
import { anchorPattern, keepOut, withoutPatterns, withPattern } from '@pawl/roster/anchor/exclude';
import { withoutParagraph, withParagraph } from '@pawl/roster/hooks/agents-paragraph';
import { withHooks, withoutHooks } from '@pawl/roster/hooks/claude-settings';
import {
  dropHooksRecord,
  readHooksRecord,
  restored,
  withEdit,
  writeHooksRecord,
} from '@pawl/roster/hooks/hooks-record';
import { hasErrno, PawlError } from '@pawl/schema/error';
import type { HooksRecord } from '@pawl/schema/hooks-record';
import { shellWord } from '@pawl/schema/shell-word';
import { existsSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkoutAt, readCheckoutFile, writeCheckoutFile } from '../../project/checkout-file.ts';
import type { CommandContext } from '../../context.ts';
import { reachDaemon } from '../../daemon/launch.ts';
import type { Person } from '../../agent/person.ts';
import { agrees, atTerminal } from '../../agent/person.ts';
import { refuseAgents } from '../../agent/person-only.ts';
import { isDefaultHome } from '../../default-home.ts';

export type HooksOptions = { project?: string; yes?: boolean; dryRun?: boolean; agentsMd?: boolean };

/** The personal Claude Code settings of a project; not committed. */
const settingsFile = '.claude/settings.local.json';
const settingsPattern = `/${settingsFile}`;
const agentsFile = 'AGENTS.md';
const excludeFile = '.git/info/exclude';

/** A planned edit: `after` is null if the file is removed. */
type Edit = { file: string; before: string | null; after: string | null };

/** A project, and whether it was tracked only now. */
type Tracked = { name: string; tracked: boolean };

/**
 * Installs Claude Code hooks and a paragraph for other agents into a checkout, after showing both. The checkout becomes
 * a project: only agents of a project have a mailbox.
 */
export async function installHooks(
  context: CommandContext,
  options: HooksOptions,
  person: Person = atTerminal(),
  track: (home: Home, root: string) => Promise<Tracked> = trackProject,
): Promise<number> {
  await refuseAgents(context.home, 'install hooks');
  const root = checkoutAt(options.project ?? '.');
  const program = hookProgram(context.home);
  const edits = [
    edit(root, settingsFile, (text) => withHooks(text, program)),
    ...(options.agentsMd === false ? [] : [edit(root, agentsFile, withParagraph)]),
  ];
  const { changed, done } = await settle(context, { edits, verb: 'install' }, options, person);
  // The daemon writes the program that the hooks call.
  const project = done ? await track(context.home, root) : null;
  if (done && changed.length > 0) write(context.home, root, changed);
  return answer(context, { root, verb: 'install', changed, done, project });
}

async function trackProject(home: Home, root: string): Promise<Tracked> {
  const client = await reachDaemon(home);
  const { project, created, trackedAgain } = await client.addProject({ path: root, checks: false });
  return { name: project.name, tracked: created || trackedAgain };
}

/** Removes both. A file that did not change in between is restored exactly; nothing else in the others is touched. */
export async function uninstallHooks(
  context: CommandContext,
  options: HooksOptions,
  person: Person = atTerminal(),
): Promise<number> {
  await refuseAgents(context.home, 'remove hooks');
  const root = checkoutAt(options.project ?? '.');
  const record = readHooksRecord(context.home.hooks, root);
  const edits = [
    edit(root, settingsFile, (text) => restored(record, settingsFile, text, withoutHooks)),
    edit(root, agentsFile, (text) => restored(record, agentsFile, text, withoutOwnParagraph)),
  ];
  const { changed, done } = await settle(context, { edits, verb: 'remove' }, options, person);
  if (done) {
    for (const { file, after } of changed) writeCheckoutFile(root, file, after);
    tidy(root, record, changed);
    dropHooksRecord(context.home.hooks, root);
  }
  return answer(context, { root, verb: 'remove', changed, done, project: null });
}

function withoutOwnParagraph(text: string): string | null {
  const rest = withoutParagraph(text);
  return rest !== text && rest.trim() === '' ? null : rest;
}

/** Shows whether the hooks are installed. */
export function hooksStatus(context: CommandContext, options: HooksOptions): number {
  const root = checkoutAt(options.project ?? '.');
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

type Verb = 'install' | 'remove';

/** Shows the edits, and asks if a person is there. */
async function settle(
  context: CommandContext,
  { edits, verb }: { edits: Edit[]; verb: Verb },
  options: HooksOptions,
  person: Person,
): Promise<{ changed: Edit[]; done: boolean }> {
  const changed = edits.filter(({ before, after }) => before !== after);
  for (const each of changed) context.say(describe(each));
  const isAsked = !context.json && person.present && !options.yes && !options.dryRun && changed.length > 0;
  const refused =
    isAsked && !agrees(await person.ask(`${verb === 'install' ? 'Write' : 'Change'} these files? [y/N] `));
  return { changed, done: !options.dryRun && !refused };
}

type Outcome = { root: string; verb: Verb; changed: Edit[]; done: boolean; project: Tracked | null };

function answer(context: CommandContext, { root, changed, done, project, verb }: Outcome): number {
  const files = changed.map(({ file, after }) => ({ file, change: after === null ? 'removed' : 'written' }));
  const data = { root, files, done, ...(verb === 'install' ? { project } : {}) };
  context.answer('hooks', data, () =>
    [
      ...outcome(verb, files, done),
      ...(project?.tracked === true
        ? [`${printableLine(project.name)} is now a project, so that agents here can write to each other`]
        : []),
      ...(verb === 'install' && done && files.length > 0 ? [context.colours.dim('undo: pawl hooks uninstall')] : []),
    ].join('\n'),
  );
  return 0;
}

function outcome(verb: Verb, files: { file: string; change: string }[], done: boolean): string[] {
  if (files.length === 0) return [verb === 'install' ? 'the hooks are already installed' : 'no hooks are installed'];
  if (!done) return ['nothing was changed'];
  const lines = files.map(({ file, change }) => `${file} ${change}`);
  const isShared = verb === 'install' && files.some(({ file }) => file === agentsFile);
  return isShared ? [...lines, `commit ${agentsFile} to share it`] : lines;
}

/** Prints the added and removed lines of an edit. */
function describe({ file, before, after }: Edit): string {
  const [old, next] = [before ?? '', after ?? ''].map((text) => text.split('\n'));
  const added = (next ?? []).filter((line) => line !== '' && !old?.includes(line));
  const removed = (old ?? []).filter((line) => line !== '' && !next?.includes(line));
  const lines = [...removed.map((line) => `- ${line}`), ...added.map((line) => `+ ${line}`)];
  return `${file}:\n${printable(lines.join('\n'))}\n`;
}

function edit(root: string, file: string, change: (text: string | null) => string | null): Edit {
  const before = readCheckoutFile(root, file);
  try {
    return { file, before, after: change(before) };
  } catch (error) {
    if (!(error instanceof PawlError)) throw error;
    const { code, message, hint } = error;
    throw new PawlError(code, `${printableLine(join(root, file))}: ${message}`, hint === undefined ? {} : { hint });
  }
}

/** Writes the files, after recording their originals. */
function write(home: Home, root: string, changed: Edit[]): void {
  let record = readHooksRecord(home.hooks, root);
  record = { ...record, madeDirectory: record.madeDirectory || !existsSync(join(root, dirname(settingsFile))) };
  for (const { file, before, after } of changed) if (after !== null) record = withEdit(record, { file, before, after });
  const hasSettings = changed.some(({ file }) => file === settingsFile);
  const exclude = hasSettings ? readExclude(root) : null;
  if (exclude !== null) {
    const after = withPattern(exclude.text ?? '', settingsPattern);
    if (after !== exclude.text) record = withEdit(record, { file: excludeFile, before: exclude.text, after });
  }
  writeHooksRecord(home.hooks, record);
  for (const { file, after } of changed) writeCheckoutFile(root, file, after);
  // An untracked file would make the checkout dirty.
  if (hasSettings) keepOut(root, settingsPattern);
}

/** Removes the lines added to the exclude file, and the directory that was created. */
function tidy(root: string, record: HooksRecord, changed: Edit[]): void {
  const text = readExclude(root)?.text ?? null;
  if (text !== null) {
    const isOurs = record.files[excludeFile] !== undefined;
    const hasAnchors = [singleton(ownLayout), anchorDirectory(ownLayout)].some((path) => existsSync(join(root, path)));
    const patterns = [...(isOurs ? [settingsPattern] : []), ...(hasAnchors ? [] : [anchorPattern])];
    const after = restored(record, excludeFile, text, (now) => withoutPatterns(now, patterns));
    if (after !== text) writeCheckoutFile(root, excludeFile, after);
  }
  const isRemoved = changed.some(({ file, after }) => file === settingsFile && after === null);
  if (isRemoved && (record.madeDirectory || Object.keys(record.files).length === 0))
    removeIfEmpty(join(root, dirname(settingsFile)));
}

/** The repository's own exclude file; null if Pawl does not write to it, as in a linked worktree. */
function readExclude(root: string): { text: string | null } | null {
  try {
    return statSync(join(root, '.git')).isDirectory() ? { text: readCheckoutFile(root, excludeFile) } : null;
  } catch (error) {
    if (error instanceof PawlError) return null;
    throw error;
  }
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    if (!hasErrno(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw error;
  }
}

/** The command for Claude Code: Pawl's own launcher, with the home if it is not the default. */
function hookProgram(home: Home): string {
  const program = shellWord(join(home.bin, 'pawl'));
  return isDefaultHome(home) ? program : `PAWL_HOME=${shellWord(home.root)} ${program}`;
}
