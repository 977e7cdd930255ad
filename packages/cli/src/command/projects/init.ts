import { printableLine } from '@pawl/present/text';
import type { Client } from '@pawl/protocol/client';
import { searchPathOf } from '@pawl/protocol/node/shell-environment';
import type { ChecksFound } from '@pawl/protocol/projects/view';
import type { CrewView } from '@pawl/protocol/projects/view';
import { isInside } from '@pawl/roster/roster';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { commitConfig } from '../../project/commit-config.ts';
import type { CommandContext } from '../../context.ts';
import { reachDaemon } from '../../daemon/launch.ts';
import { askable, settlePush, tellMerging, wantsAutoMerge } from '../../project/merge-setup.ts';
import { atTerminal } from '../../agent/person.ts';
import { warnIfMissing } from '../../agent/provider-missing.ts';
import { crewBody, describeCrew } from './crew.ts';

export type InitOptions = {
  name?: string;
  checks?: boolean;
  provider?: string;
  autoMerge?: boolean;
  push?: boolean;
  commit?: boolean;
  crew?: boolean;
};

/**
 * Makes the repository of a path a project, and writes its checks down if no file names them yet. Changes nothing else
 * in it, and never edits an existing file. Nothing is merged or pushed automatically unless the person says so.
 */
export async function init(
  context: CommandContext,
  path: string,
  options: InitOptions,
  person = atTerminal(),
): Promise<number> {
  const client = await reachDaemon(context.home);
  const asked =
    options.autoMerge === undefined && writesConfig(resolve(path), options) ? askable(context, person) : null;
  const autoMerge = options.autoMerge ?? (await wantsAutoMerge(asked));
  const { project, created, trackedAgain, checks, ...added } = await client.addProject({
    path: resolve(path),
    checks: options.checks !== false,
    ...(autoMerge ? { autoMerge: true } : {}),
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.provider === undefined ? {} : { provider: options.provider }),
  });
  if (options.provider !== undefined) await warnAbout(context, client, options.provider);
  let { merging } = added;
  const root = printableLine(project.root);
  const committed = options.commit === true ? commitConfig(project.root, merging?.branch ?? null) : null;
  const push = { root: project.root, wanted: options.push === true, person: autoMerge ? asked : null };
  const isAllowed = merging !== null && (await settlePush(client, merging, push));
  if (isAllowed || committed !== null) ({ merging } = await client.addProject({ path: project.root }));
  // The project's own provider, if set.
  const crew = options.crew ? await client.startCrew(await crewBody(context.home, project.root, {})) : null;
  const back = trackedAgain && crew === null ? await client.crew({ path: project.root }) : null;
  const members = crew === null && back === null ? {} : { crew: (crew ?? back)?.members };
  context.answer('project', { ...project, created, trackedAgain, checks, merging, committed, ...members }, () =>
    [
      `${context.colours.bold(project.name)} is ${standing({ created, trackedAgain })} (${root})`,
      ...(back === null ? [] : tellCrewBack(back)),
      ...(options.provider === undefined ? [] : [`its agents use ${printableLine(options.provider)}`]),
      ...(checks === null ? [] : tellChecks(checks)),
      ...(merging === null
        ? []
        : tellMerging(merging, committed, isInside(process.cwd(), project.root) ? null : project.root)),
      ...(crew === null ? [] : [describeCrew(context, crew)]),
      ...(created ? [nextStep(project.root), hooksOffer].map(context.colours.dim) : []),
    ].join('\n'),
  );
  return 0;
}

/** An agent's branch starts at a commit, so the repository needs one. */
function nextStep(root: string): string {
  const head = spawnSync('git', ['-C', root, 'rev-parse', '--verify', '--quiet', 'HEAD'], { stdio: 'ignore' });
  return `next: ${head.status === 1 ? 'make a first commit, then ' : ''}pawl work "what to do"`;
}

async function warnAbout(context: CommandContext, client: Client, provider: string): Promise<void> {
  const { providers } = await client.listProviders(searchPathOf(process.env));
  const known = providers.find(({ name }) => name === provider);
  if (known !== undefined) warnIfMissing(context, known);
}

function standing({ created, trackedAgain }: { created: boolean; trackedAgain: boolean }): string {
  if (created) return 'now a project';
  return trackedAgain ? 'tracked again' : 'already a project';
}

/** Crew agents that came back with a project that is tracked again. */
function tellCrewBack({ wanted, members }: CrewView): string[] {
  if (!wanted) return [];
  const names = (isThere: boolean) =>
    members.filter(({ agent }) => (agent !== null) === isThere).map(({ role }) => role);
  const [there, missing] = [names(true), names(false)];
  return [
    ...(there.length === 0 ? [] : [`crew: ${there.join(', ')} started`]),
    ...(missing.length === 0 ? [] : [`crew: ${missing.join(', ')} not started; see: pawl crew start`]),
  ];
}

const hooksOffer = 'do you start agents here yourself? pawl hooks install lets them notice each other';

/** Whether init would write a configuration into the checkout. */
function writesConfig(path: string, { checks }: InitOptions): boolean {
  const { status, stdout } = spawnSync('git', ['-C', path, 'rev-parse', '--show-toplevel'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return checks !== false && status === 0 && !existsSync(join(stdout.trim(), '.pawl', 'config.yaml'));
}

/** The findings, and the next steps for the person. */
function tellChecks({ file, found, outcome, reason }: ChecksFound): string[] {
  const place = printableLine(file);
  const commands = found.map(({ run, from }) => `  ${printableLine(run)}  (${printableLine(from)})`);
  if (outcome === 'kept') return [`its checks are named in ${place}`];
  if (outcome === 'written') {
    return [`wrote ${place}; a change passes when these do:`, ...commands];
  }
  const open = 'nothing is merged without checks: name them there, as in `checks: [make test]`';
  if (outcome === 'not-found') return [`no checks were detected, so there is no ${place}`, open];
  return [`${place} could not be written: ${printableLine(reason ?? '')}`, ...commands, open];
}
