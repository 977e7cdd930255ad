import { tiptapOf } from '@pawl/present/plan/tiptap';
import { planLines, planMermaid, waveLines } from '@pawl/present/plan/plan-text';
import { printable, printableLine } from '@pawl/present/text';
import { span } from '@pawl/present/tone';
import type { EditPlanBody, NewPlanBody, PlanDetail } from '@pawl/protocol/plan/plan-view';
import { PawlError } from '@pawl/schema/error';
import { resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { CommandContext } from '../../context.ts';
import { plainJson } from '../../context.ts';
import { commandClient } from '../../daemon/client.ts';
import { withDaemon } from '../../daemon/launch.ts';
import { paintLine } from '../../terminal/palette.ts';
import { table } from '../../terminal/table.ts';
import { editText, markdownFrom } from './plan-text-source.ts';
import type { ProjectOption } from '../../project/project-option.ts';
import { projectPath } from '../../project/project-option.ts';

/** Starts a plan from a wish. */
export async function newPlan(
  context: CommandContext,
  words: string[],
  options: ProjectOption & {
    name?: string;
    file?: string;
    issue?: number;
    tiptap?: boolean;
    mode?: NewPlanBody['mode'];
    budget?: NewPlanBody['budget'];
    branch?: boolean;
  },
): Promise<number> {
  const path = resolve(options.project ?? '.');
  const { text, name } = await markdownFrom(words, { ...options, directory: path });
  const title = options.name ?? name;
  const body = {
    path,
    text,
    ...(title === undefined ? {} : { name: title }),
    ...(options.mode === undefined ? {} : { mode: options.mode }),
    ...(options.budget === undefined ? {} : { budget: options.budget }),
    ...(options.branch === true ? { branch: true } : {}),
  };
  const detail = await withDaemon(context.home, (client) => client.newPlan(body));
  context.answer('plan', detail, () => {
    const { plan } = detail;
    return `started ${context.colours.bold(printableLine(plan.name))} (${plan.id.slice(0, 6)}, ${plan.mode})`;
  });
  return 0;
}

const columns = [
  { title: 'ID' },
  { title: 'STATE' },
  { title: 'PROJECT', optional: 1 },
  { title: 'DONE' },
  { title: 'PLAN', flexible: true },
  { title: 'DETAIL', flexible: true },
];

/** Lists plans in the order started. */
export async function listPlans(context: CommandContext, options: ProjectOption & { all?: boolean }): Promise<number> {
  const query = { ...projectPath(options), ...(options.all ? { all: true } : {}) };
  const list = await withDaemon(context.home, (client) => client.listPlans(query));
  context.answer('plans', list, () => {
    if (list.plans.length === 0) return 'no plans; start one: pawl plan new "what you want"';
    const rows = list.plans.map(({ id, state, project, counts, name, detail }) => [
      span(id.slice(0, 6), 'muted'),
      state,
      project?.name ?? '-',
      `${counts.settled}/${counts.tasks}`,
      name,
      detail,
    ]);
    return table(columns, rows, context.colours, context.columns);
  });
  return 0;
}

const watchMs = 1_000;

/** Shows a plan; with `watch` again whenever it has changed, until it is over. */
export async function showPlan(
  context: CommandContext,
  reference: string,
  options: ProjectOption & { page?: string; watch?: boolean; tiptap?: boolean },
): Promise<number> {
  const first = await withDaemon(context.home, (client) => client.showPlan(reference, projectPath(options)));
  if (options.page !== undefined) return showPage(context, first, options.page, options.tiptap ?? false);
  if (options.watch !== true) {
    context.answer('plan', first, () => describe(first, context));
    return 0;
  }
  let shown = '';
  for (let detail = first; ; detail = await commandClient(context.home).showPlan(first.plan.id)) {
    const now = JSON.stringify(detail);
    if (now !== shown) context.record('plan', detail, () => `${describe(detail, context)}\n`);
    shown = now;
    if (['completed', 'archived'].includes(detail.plan.state)) return 0;
    await wait(watchMs);
  }
}

/** Prints one page as it is stored, or as a document of Tiptap. */
function showPage(context: CommandContext, detail: PlanDetail, word: string, tiptap: boolean): number {
  const page = detail.pages.find(({ id, title }) => id.startsWith(word) || title === word);
  if (page === undefined) throw new PawlError('not_found', `The plan has no page ${JSON.stringify(word)}.`);
  const document = tiptap ? { document: tiptapOf(page.text) } : {};
  context.answer('page', { ...page, ...document }, () =>
    tiptap ? plainJson(tiptapOf(page.text)) : printable(page.text).trimEnd(),
  );
  return 0;
}

/** Shows the waves of a plan, or its graph; fails if it has a cycle. */
export async function graphPlan(
  context: CommandContext,
  reference: string,
  options: ProjectOption & { mermaid?: boolean },
): Promise<number> {
  const detail = await withDaemon(context.home, (client) => client.showPlan(reference, projectPath(options)));
  const { stage } = detail;
  context.answer('graph', { ...stage, mermaid: planMermaid(detail) }, () =>
    options.mermaid === true ? planMermaid(detail) : [...waveLines(detail), ...stage.errors].join('\n'),
  );
  return stage.errors.length === 0 ? 0 : 1;
}

/** Changes a plan, or one of its pages; without a text for the page, in the editor. */
export async function editPlan(
  context: CommandContext,
  reference: string,
  options: ProjectOption & {
    name?: string;
    mode?: EditPlanBody['mode'];
    budget?: EditPlanBody['budget'];
    page?: string;
    title?: string;
    parent?: string;
    file?: string;
    tiptap?: boolean;
  },
): Promise<number> {
  const { name, mode, budget, page, title, parent, file } = options;
  const before = await withDaemon(context.home, (client) => client.showPlan(reference, projectPath(options)));
  const isPage = page !== undefined || title !== undefined || file !== undefined;
  const known = before.pages.find((each) => page !== undefined && (each.id.startsWith(page) || each.title === page));
  const isMoved = parent !== undefined || title !== undefined;
  const text = !isPage
    ? undefined
    : file !== undefined
      ? (
          await markdownFrom(file === '-' ? ['-'] : [], {
            ...options,
            ...(file === '-' ? {} : { file }),
            directory: '.',
          })
        ).text
      : known !== undefined && isMoved
        ? undefined
        : editText(known?.text ?? '');
  const body: EditPlanBody = {
    ...(name === undefined ? {} : { name }),
    ...(mode === undefined ? {} : { mode }),
    ...(budget === undefined ? {} : { budget }),
    ...(isPage
      ? {
          page: {
            ...(page === undefined ? {} : { id: page }),
            ...(title === undefined ? {} : { title }),
            ...(parent === undefined ? {} : { parent }),
            ...(text === undefined ? {} : { text }),
          },
        }
      : {}),
  };
  if (Object.keys(body).length === 0) {
    throw new PawlError('usage', 'Nothing to change.', { hint: 'See `pawl plan edit --help`.' });
  }
  const after = await withDaemon(context.home, (client) => client.editPlan(before.plan.id, body));
  context.answer('plan', after, () => describe(after, context));
  return 0;
}

/** A plan as a tree. */
export function describe(detail: PlanDetail, { colours }: CommandContext): string {
  return planLines(detail)
    .map((line) => paintLine(line, colours))
    .join('\n');
}
