import { firstLine } from '@pawl/core/shorten';
import type { EditPlanBody, NewPlanBody, PlanDetail, PlanList, PlanView } from '@pawl/protocol/plan/plan-view';
import { readPlan } from '@pawl/core/plan/plan-reading';
import { stagePlan } from '@pawl/core/plan/stage';
import { PawlError } from '@pawl/schema/error';
import { newId } from '@pawl/schema/id';
import { limits } from '@pawl/schema/limit';
import type { Initiative, Page } from '@pawl/schema/plan/plan';
import { noBudget } from '@pawl/schema/record';
import { insertInitiative, listInitiatives, updateInitiative } from '@pawl/store/plan/initiatives';
import { planContent, putPage } from '@pawl/store/plan/plan-records';
import { listProjects } from '@pawl/store/projects/projects';
import type { Database } from '@pawl/store/tables';
import type { WriteTransaction } from '@pawl/store/write-transaction';
import type { DefinitionPlatform } from '../definitions/definition-platform.ts';
import { contentHash, findPlan, planFacts, planUsage, requiredPlan, usageByTask } from '../tasks/plan-facts.ts';
import { planBranchName } from './plan-branch.ts';
import type { Asker, TaskQuery } from './task-verbs.ts';
import { projectAt, views } from './task-verbs.ts';

/** Operations on plans for a person or an agent. */
export function createPlans(platform: DefinitionPlatform) {
  const { store } = platform;
  const { db } = store;

  /** The plan that a word names; an agent finds those of its own project. */
  async function find(asker: Asker, reference: string, { path }: TaskQuery): Promise<Initiative> {
    return findPlan(db, reference, (await projectAt(platform, asker, path))?.id);
  }

  async function detail(id: string): Promise<PlanDetail> {
    const initiative = await requiredPlan(db, id);
    const facts = await planFacts(db, initiative);
    const { content } = facts;
    const reading = readPlan(facts);
    const spent = await usageByTask(db, id);
    const { waves, errors, warnings } = stagePlan(content, facts.outside);
    return {
      plan: await planView(db, initiative),
      pages: content.pages,
      decisions: content.decisions,
      phases: content.phases.map((phase) => ({
        ...phase,
        ...(reading.phases.get(phase.id) ?? { state: 'pending' as const, detail: '' }),
      })),
      tasks: (await views(platform, content.tasks)).map((task) => ({ ...task, spent: spent.get(task.id) ?? null })),
      stage: { errors, warnings, waves },
    };
  }

  return {
    find,
    detail,

    /** Starts a plan with the wish as its first page. */
    async create(body: NewPlanBody): Promise<PlanDetail> {
      const project = await projectAt(platform, null, body.path);
      if (project === null) throw new PawlError('invalid_input', 'No project given.');
      const name = body.name ?? nameOf(body.text);
      const id = newId();
      await store.write(async (tx) => {
        await insertInitiative(tx, newInitiative({ id, projectId: project.id, name, now: tx.now }, body));
        await putPage(tx, { id: newId(), initiativeId: id, parentId: null, title: name, text: body.text });
        tx.emit({ type: 'plan.started', projectId: project.id, data: { planId: id, name } });
      });
      return detail(id);
    },

    async list(asker: Asker, { path, all }: TaskQuery & { all: boolean }): Promise<PlanList> {
      const project = await projectAt(platform, asker, path);
      const found = await listInitiatives(db, { projectId: project?.id, includeArchived: all });
      const plans: PlanView[] = [];
      for (const initiative of found) plans.push(await planView(db, initiative));
      return { plans };
    },

    async show(asker: Asker, reference: string, query: TaskQuery): Promise<PlanDetail> {
      return detail((await find(asker, reference, query)).id);
    },

    /** Changes a plan's name, mode or budget, or writes one of its pages. */
    async edit(reference: string, body: EditPlanBody, query: TaskQuery): Promise<PlanDetail> {
      const { id } = await find(null, reference, query);
      await store.write(async (tx) => {
        const initiative = await requiredPlan(tx.db, id);
        const { name, mode, budget, page } = body;
        const patch = {
          ...(name === undefined ? {} : { name }),
          ...(mode === undefined ? {} : { mode }),
          ...(budget === undefined ? {} : { budget: { ...initiative.budget, ...budget } }),
        };
        if (Object.keys(patch).length > 0) await updateInitiative(tx, id, patch);
        if (page !== undefined) await writePage(tx, id, page);
        tx.emit({ type: 'plan.edited', projectId: initiative.projectId, data: { planId: id } });
      });
      return detail(id);
    },
  };
}

/** A new plan, neither approved nor launched. */
function newInitiative(
  { id, projectId, name, now }: { id: string; projectId: string; name: string; now: number },
  { mode, budget, branch }: Pick<NewPlanBody, 'mode' | 'budget' | 'branch'> = {},
): Initiative {
  return {
    id,
    projectId,
    name,
    mode: mode ?? 'review',
    budget: { ...noBudget, ...budget },
    createdBy: null,
    createdAt: now,
    approvedVersion: null,
    approvedAt: null,
    launch: null,
    launchedAt: null,
    pausedAt: null,
    archivedAt: null,
    branch: branch === true ? planBranchName(name, id) : null,
  };
}

async function planView(db: Database, initiative: Initiative): Promise<PlanView> {
  const facts = await planFacts(db, initiative);
  const reading = readPlan(facts);
  const { id, name } = (await listProjects(db)).find((project) => project.id === initiative.projectId) ?? {};
  const settled = [...reading.tasks.values()].filter(({ state }) =>
    ['completed', 'skipped', 'cancelled'].includes(state),
  );
  return {
    ...initiative,
    ...reading.initiative,
    project: id === undefined || name === undefined ? null : { id, name },
    hash: contentHash(facts.content),
    spent: await planUsage(db, initiative.id),
    counts: { phases: facts.content.phases.length, tasks: facts.content.tasks.length, settled: settled.length },
  };
}

/** The name of a plan from its text: the first line with words, without marks of a heading. */
function nameOf(text: string): string {
  const line = text.split('\n').find((each) => /\w/.test(each)) ?? '';
  const name = firstLine(line.replace(/^[#\s>*-]+/, ''), limits.taskNameCharacters);
  if (name.trim() === '') {
    throw new PawlError('invalid_input', 'The text is empty.', { hint: 'Say what you want: pawl plan new "…"' });
  }
  return name.trim();
}

async function writePage(
  tx: WriteTransaction,
  initiativeId: string,
  page: NonNullable<EditPlanBody['page']>,
): Promise<void> {
  const { pages } = await planContent(tx.db, initiativeId);
  const known = page.id === undefined ? undefined : findPage(pages, page.id);
  const parentId = page.parent === undefined ? (known?.parentId ?? null) : findPage(pages, page.parent).id;
  const title = page.title ?? known?.title;
  if (title === undefined) throw new PawlError('invalid_input', 'A new page needs a title.');
  const id = known?.id ?? newId();
  refuseLoop(pages, id, parentId);
  await putPage(tx, { id, initiativeId, parentId, title, text: page.text ?? known?.text ?? '' });
}

/** Refuses to put a page below itself. */
function refuseLoop(pages: readonly Page[], id: string, parentId: string | null): void {
  const above = new Map(pages.map((page) => [page.id, page.parentId]));
  let steps = 0;
  for (let at = parentId; at !== null && steps <= pages.length; at = above.get(at) ?? null, steps++) {
    if (at === id) throw new PawlError('invalid_input', 'A page cannot be below itself.');
  }
}

function findPage(pages: readonly Page[], word: string): Page {
  const found = pages.filter(({ id, title }) => id === word || title === word);
  const matches = found.length > 0 ? found : pages.filter(({ id }) => word.length >= 4 && id.startsWith(word));
  const [page] = matches;
  if (page !== undefined && matches.length === 1) return page;
  throw new PawlError(
    page === undefined ? 'not_found' : 'ambiguous',
    `${JSON.stringify(word)} names ${page === undefined ? 'no page' : 'several pages'} of this plan.`,
    {
      hint: 'Name a page by its id, the first 4 or more characters of it, or its exact title.',
    },
  );
}
