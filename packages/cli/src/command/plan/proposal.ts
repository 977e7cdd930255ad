import { printable, printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import type { ProposalAnswer, ProposalView } from '@pawl/protocol/plan/proposal-view';
import type { CommandContext } from '../../context.ts';
import { withDaemon } from '../../daemon/launch.ts';
import type { Palette } from '../../terminal/palette.ts';
import { table } from '../../terminal/table.ts';
import type { ProjectOption } from '../../project/project-option.ts';
import { projectPath } from '../../project/project-option.ts';

const columns = [
  { title: 'ID' },
  { title: 'STATE' },
  { title: 'MODE' },
  { title: 'AGENT', optional: 1 },
  { title: 'ITEMS' },
  { title: 'PLAN', flexible: true },
  { title: 'SUMMARY', flexible: true },
];

/** Lists proposals in the order made. */
export async function listProposals(
  context: CommandContext,
  options: ProjectOption & { all?: boolean },
): Promise<number> {
  const query = { ...projectPath(options), ...(options.all ? { all: true } : {}) };
  const list = await withDaemon(context.home, (client) => client.listProposals(query));
  context.answer('proposals', list, () => {
    if (list.proposals.length === 0) return 'no proposals; planning agents make them: pawl plan draft';
    const rows = list.proposals.map(({ id, state, mode, agent, items, plan, summary }) => [
      span(id.slice(0, 6), 'muted'),
      span(state, state === 'refused' ? 'bad' : 'plain'),
      mode,
      agent?.alias ?? '-',
      String(items.length),
      plan?.name ?? '-',
      summary,
    ]);
    return table(columns, rows, context.colours, context.columns);
  });
  return 0;
}

/** Shows what a proposal would do, and why it cannot be accepted. */
export async function showProposal(context: CommandContext, reference: string): Promise<number> {
  const found = await withDaemon(context.home, (client) => client.showProposal(reference));
  context.answer('proposal', found, () => describe(found, context.colours));
  return 0;
}

/** Accepts, dismisses or reverts a proposal; with `dryRun` only shows what accepting would do. */
export async function decideProposal(
  context: CommandContext,
  verb: 'accept' | 'dismiss' | 'revert',
  reference: string,
  options: { items?: string[]; reason?: string; dryRun?: boolean },
): Promise<number> {
  if (options.dryRun === true) {
    const found = await withDaemon(context.home, (client) => client.showProposal(reference));
    context.answer('proposal', found, () => describe(found, context.colours));
    return found.problems.length === 0 ? 0 : 1;
  }
  const body = {
    ...(options.items === undefined || options.items.length === 0 ? {} : { items: options.items }),
    ...(options.reason === undefined ? {} : { reason: options.reason }),
  };
  const decided = await withDaemon(context.home, (client) => client.decideProposal(reference, verb, body));
  context.answer('proposal', decided, () => {
    const { proposal } = decided;
    const plan = proposal.plan === null ? '' : ` for ${context.colours.bold(printableLine(proposal.plan.name))}`;
    return `the proposal ${proposal.id.slice(0, 6)}${plan} is ${proposal.state}`;
  });
  return 0;
}

function describe({ proposal, problems }: ProposalAnswer, colours: Palette): string {
  const head = [
    `${colours.bold(proposal.id.slice(0, 6))} ${proposal.state}: ${proposal.mode}${by(proposal)}`,
    ...(proposal.plan === null ? ['for a new plan'] : [`for ${printableLine(proposal.plan.name)}`]),
    ...(proposal.summary === '' ? [] : [printable(proposal.summary).trimEnd()]),
  ];
  const items = proposal.items.flatMap(({ action, kind, id, name, decision, text }) => [
    '',
    `${action} ${kind} ${colours.bold(printableLine(name))} ${colours.dim(id.slice(0, 6))}`,
    ...(decision === '' ? [] : [`  ${printableLine(decision)}`]),
    ...(text === ''
      ? []
      : printable(text)
          .trimEnd()
          .split('\n')
          .map((line) => `  ${line}`)),
  ]);
  return [...head, ...items, ...problems.map((problem) => colours.red(`problem: ${printableLine(problem)}`))].join(
    '\n',
  );
}

function by({ agent, decidedBy }: ProposalView): string {
  const decided = decidedBy === null ? '' : `, decided by ${printableLine(decidedBy)}`;
  return agent === null ? decided : ` by ${printableLine(agent.alias)}${decided}`;
}
