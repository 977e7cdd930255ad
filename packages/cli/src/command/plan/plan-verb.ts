import { waveLines } from '@pawl/present/plan/plan-text';
import { printableLine } from '@pawl/present/text';
import type { LaunchPlanBody, PlanDetail } from '@pawl/protocol/plan/plan-view';
import { searchPathOf } from '@pawl/protocol/node/shell-environment';
import { resolve } from 'node:path';
import type { CommandContext } from '../../context.ts';
import { shellVariables } from '../../agent/shell-variables.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { describe } from './plan.ts';
import type { ProjectOption } from '../../project/project-option.ts';
import { projectPath } from '../../project/project-option.ts';

/** Looks at a plan as a whole: errors, warnings and waves. Writes nothing, and fails if there are errors. */
export async function stagePlan(context: CommandContext, reference: string, options: ProjectOption): Promise<number> {
  const detail = await withDaemon(context.home, (client) => client.showPlan(reference, projectPath(options)));
  const { plan, stage } = detail;
  context.answer('stage', { planId: plan.id, hash: plan.hash, ...stage }, () =>
    [
      ...waveLines(detail),
      ...stage.errors.map((text) => context.colours.red(`error: ${printableLine(text)}`)),
      ...stage.warnings.map((text) => context.colours.yellow(`warning: ${printableLine(text)}`)),
      ...(stage.errors.length > 0
        ? []
        : [`approve exactly this: pawl plan approve ${plan.id.slice(0, 6)} --hash ${plan.hash.slice(0, 12)}`]),
    ].join('\n'),
  );
  return stage.errors.length === 0 ? 0 : 1;
}

export type PlanVerbOptions = ProjectOption & {
  hash?: string;
  acceptWarnings?: boolean;
  as?: string;
  provider?: string;
  model?: string;
  account?: string;
  agents?: number;
  scenario?: string;
};

/** Approves, launches, pauses, resumes or archives a plan. */
export async function changePlan(
  context: CommandContext,
  verb: 'approve' | 'launch' | 'pause' | 'resume' | 'archive',
  reference: string,
  options: PlanVerbOptions,
): Promise<number> {
  const body = {
    approve: {
      ...(options.hash === undefined ? {} : { hash: options.hash }),
      ...(options.acceptWarnings === undefined ? {} : { acceptWarnings: options.acceptWarnings }),
    },
    launch: verb === 'launch' ? await launchBody(context, options) : {},
    pause: {},
    resume: {},
    archive: {},
  }[verb];
  const detail: PlanDetail = await withDaemon(context.home, (client) =>
    client.changePlan(reference, verb, body, projectPath(options)),
  );
  context.answer('plan', detail, () => describe(detail, context));
  return 0;
}

async function launchBody(
  { home }: CommandContext,
  { as, provider, model, account, agents, scenario }: PlanVerbOptions,
): Promise<LaunchPlanBody> {
  return {
    ...(await shellVariables(home)),
    ...searchPathOf(process.env),
    ...(as === undefined ? {} : { definition: as }),
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(account === undefined ? {} : { account }),
    ...(agents === undefined ? {} : { agents }),
    ...(scenario === undefined ? {} : { options: { scenario: resolve(scenario) } }),
  };
}
