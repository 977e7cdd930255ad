import { programs } from '@pawl/protocol/node/programs';
import { layoutOf } from '@pawl/roster/anchor/anchor-file';
import { anchorPath, idIn } from '@pawl/roster/anchor/anchor-path';
import type { Beginning, SessionSite } from '@pawl/roster/anchor/begin-session';
import { beginSession } from '@pawl/roster/anchor/begin-session';
import type { Ending, HelperChoice } from '@pawl/roster/anchor/end-session';
import { endSession, helperChoices } from '@pawl/roster/anchor/end-session';
import { keepAnchorsOut } from '@pawl/roster/anchor/exclude';
import type { Survey } from '@pawl/roster/anchor/survey';
import { surveyOf, unknownSurvey } from '@pawl/roster/anchor/survey';
import { systemProbe } from '@pawl/roster/probe';
import { readPrograms } from '@pawl/roster/programs-file';
import { projectRoot } from '@pawl/roster/project-root';
import { PawlError } from '@pawl/schema/error';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandContext } from '../../context.ts';
import type { Person } from '../../agent/person.ts';
import { atTerminal } from '../../agent/person.ts';
import { beginningText, endingText, exportLine } from '../../view/session-text.ts';

export type SessionOptions = { project?: string };

/** The environment of the caller; replaceable in tests. */
export type Surroundings = { environment: NodeJS.ProcessEnv; person: Person; now: Date };

const here = (): Surroundings => ({ environment: process.env, person: atTerminal(), now: new Date() });

/** Prints the path of this session's anchor. Reads only the environment and which layout is in use. */
export function sessionPath(
  context: CommandContext,
  options: SessionOptions,
  { environment }: Pick<Surroundings, 'environment'> = here(),
): number {
  const root = projectRoot(options.project ?? '.');
  const path = anchorPath(layoutOf(root), idIn(environment));
  context.answer('anchor', { root, path }, () => path);
  return 0;
}

/** Decides how a session begins and prepares it: creates at most a helper's own file. */
export function sessionBegin(
  context: CommandContext,
  options: SessionOptions,
  { environment }: Pick<Surroundings, 'environment'> = here(),
): number {
  const root = projectRoot(options.project ?? '.');
  const { beginning, contract, isExcluded } = beginIn(context.home, root, environment);
  const data = { root, ...beginning, shell: exportLine(beginning), contract: contract || null, isExcluded };
  context.answer('session', data, () => beginningText(beginning, { contract, isExcluded }));
  return 0;
}

/** Decides how a session begins in a checkout; creates a helper's file, and keeps anchors out of commits. */
export function beginIn(
  home: CommandContext['home'],
  root: string,
  environment: NodeJS.ProcessEnv,
): { beginning: Beginning; contract: string; isExcluded: boolean } {
  const place = { root, environment, worktrees: [home.worktrees] };
  const beginning = beginSession(place, () => survey({ home }, place));
  const isExcluded = beginning.branch === 'isolated' || keepAnchorsOut(root);
  const contract = beginning.branch === 'helper' || beginning.branch === 'restricted' ? helperContract() : '';
  return { beginning, contract, isExcluded };
}

/** Ends a session. If others continue and no choice was given for their work, asks the person. */
export async function sessionEnd(
  context: CommandContext,
  options: SessionOptions & { description?: string; onHelpers?: HelperChoice },
  { environment, person, now }: Surroundings = here(),
): Promise<number> {
  const place = placeOf(context, options, environment);
  const end = (onHelpers: HelperChoice | null) =>
    endSession(place, () => survey(context, place), { description: options.description ?? null, onHelpers, now });
  let ending = end(options.onHelpers ?? null);
  if (ending.outcome === 'asked') ending = end(await askAbout(ending, context.json ? null : person));
  context.answer('session', { root: place.root, ...ending }, () => endingText(ending));
  return 0;
}

async function askAbout(ending: Ending, person: Person | null): Promise<HelperChoice> {
  const found = ending.others.map(({ provider, pid }) => `${provider} ${pid}`).join(', ');
  const who = found === '' ? 'Cannot tell whether others are working here' : `Others are working here (${found})`;
  const choices = 'commit what they have begun, wait for them, or leave closing to them';
  const answer = person?.present === true ? await person.ask(`${who}: ${choices}? [commit/wait/leave] `) : '';
  const choice = helperChoices.find((each) => each === answer.trim().toLowerCase());
  if (choice !== undefined) return choice;
  throw new PawlError('needs_input', `${who}: nothing was committed or put away.`, {
    hint: `Say what to do, ${choices}: pawl session end --on-helpers commit|wait|leave`,
    details: { others: ending.others, helpers: ending.helpers, doubts: ending.doubts },
  });
}

function placeOf({ home }: CommandContext, { project }: SessionOptions, environment: NodeJS.ProcessEnv): SessionSite {
  return { root: projectRoot(project ?? '.'), environment, worktrees: [home.worktrees] };
}

function survey({ home }: Pick<CommandContext, 'home'>, { root, environment, worktrees }: SessionSite): Survey {
  try {
    return surveyOf(systemProbe(environment, readPrograms(home.programs).programs), root, worktrees);
  } catch (error) {
    return unknownSurvey(error);
  }
}

/** The helper contract: the text of the built-in definition. */
function helperContract(): string {
  const text = readFileSync(join(programs.builtInDefinitions, 'helper-mode.md'), 'utf8');
  return text.replace(/^---\n[^]*?\n---\n/, '').trim();
}
