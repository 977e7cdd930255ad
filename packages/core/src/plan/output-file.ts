import { idSchema } from '@pawl/schema/id';
import type { PlanContent, PlanItem, PlanKind } from '@pawl/schema/plan/plan';
import { planItemSchema } from '@pawl/schema/plan/plan';
import type { WorkMode } from '@pawl/schema/record';
import type { Field, ReadYaml } from '../definitions/front-matter.ts';
import { quoteColons, splitFrontMatter } from '../definitions/front-matter.ts';
import { applyItems, recordOf, sameRecord } from './apply-items.ts';
import { checkItems } from './check-items.ts';
import type { TasksById } from './plan.ts';
import { leafPhases } from './stage.ts';

/** A file that a planning agent left, by its path in `.pawl/output/`. */
export type OutputFile = { path: string; text: string };

/** The changes that the files of an agent propose, and what is wrong with them. */
export type PlanOutput = { items: PlanItem[]; complaints: string[] };

/** The kinds of records that a planning mode may write. */
const kindsOfMode: Partial<Record<WorkMode, readonly PlanKind[]>> = {
  discuss: ['decision'],
  plan: ['phase'],
  detail: ['task'],
  refine: ['page'],
  'refine-chat': ['page', 'decision', 'phase', 'task'],
};

/** Modes whose work is not complete without a file. */
const mustWrite: readonly WorkMode[] = ['plan', 'detail'];

/** The directories of output files, by kind. */
export const outputFolders: Readonly<Record<PlanKind, string>> = {
  page: 'pages',
  decision: 'decisions',
  phase: 'phases',
  task: 'tasks',
};

/** True for modes that plan and write nothing but their output. */
export function isPlanningMode(mode: WorkMode): boolean {
  return kindsOfMode[mode] !== undefined;
}

export type OutputContext = {
  mode: WorkMode;
  /** It says that it is done. */
  isDone: boolean;
  content: PlanContent;
  outside: TasksById;
  /** The phase whose tasks it plans. */
  phaseId: string | null;
  readYaml: ReadYaml;
  /** For an integration phase, if one is needed. */
  newId: string;
};

/** Reads the files of a planning agent. Every complaint tells the agent what to correct. */
export function readPlanOutput(files: readonly OutputFile[], context: OutputContext): PlanOutput {
  const { mode, content, outside } = context;
  const kinds = kindsOfMode[mode] ?? [];
  const read = files.map((file) => readFile(file, kinds, context));
  const complaints = read.flatMap((each) => ('complaint' in each ? [each.complaint] : []));
  const given = read.flatMap((each) => ('item' in each ? [each.item] : []));
  if (files.length === 0 && context.isDone && mustWrite.includes(mode))
    complaints.push(`There is no file in .pawl/output/${outputFolders[kinds[0] ?? 'task']}/.`);
  const items = inOrder(given.filter((item) => isChange(item, content)));
  if (complaints.length > 0) return { items, complaints };
  const joined = mode === 'plan' ? withIntegration(items, context) : items;
  return { items: joined, complaints: checkItems(content, joined, outside) };
}

/** Items after those that they wait for, else by name: files come in the order of their ids. */
function inOrder(items: readonly PlanItem[]): PlanItem[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const placed = new Set<PlanItem>();
  const open = items.toSorted((one, other) => (one.name < other.name ? 1 : -1));
  const seen = new Set<PlanItem>();
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    if (placed.has(item)) continue;
    const before = [...item.dependsOn, ...item.ifFailed].flatMap((id) => byId.get(id) ?? []);
    const missing = before.filter((each) => !placed.has(each) && !seen.has(each));
    if (missing.length === 0) placed.add(item);
    // A cycle is visited once, and reported later.
    else open.push(item, ...missing);
    seen.add(item);
  }
  return [...placed];
}

/** False for a record that is already in the plan as it is. */
function isChange(item: PlanItem, content: PlanContent): boolean {
  if (item.action !== 'update') return true;
  const nowhere = { initiativeId: '', projectId: '', now: 0, createdBy: null };
  const before = recordOf(content, item.kind, item.id);
  const after = recordOf(applyItems(content, [item], nowhere), item.kind, item.id);
  return !sameRecord({ ...(before as object), initiativeId: '' }, { ...(after as object), initiativeId: '' });
}

/** Adds a phase that joins several last ones, unless one of them is there for that. */
function withIntegration(items: readonly PlanItem[], { content, newId }: OutputContext): PlanItem[] {
  const nowhere = { initiativeId: '', projectId: '', now: 0, createdBy: null };
  const { phases } = applyItems(content, items, nowhere);
  const leaves = leafPhases(phases);
  if (leaves.length < 2 || leaves.some(({ isIntegration }) => isIntegration)) return [...items];
  const text = `Join the results of ${leaves.map(({ name }) => name).join(', ')}: run all checks on the whole, try it end to end, and repair what does not fit.`;
  return [
    ...items,
    itemOf({
      kind: 'phase',
      action: 'create',
      id: newId,
      name: 'Integrate',
      text,
      dependsOn: leaves.map(({ id }) => id),
      isIntegration: true,
    }),
  ];
}

const itemOf = (fields: Partial<PlanItem>) => planItemSchema.parse(fields);

type ReadFile = { item: PlanItem } | { complaint: string };

function readFile({ path, text }: OutputFile, kinds: readonly PlanKind[], context: OutputContext): ReadFile {
  const complain = (reason: string): ReadFile => ({ complaint: `${path}: ${reason}` });
  const [folder = '', name = ''] = path.split('/');
  const kind = kinds.find((each) => outputFolders[each] === folder);
  if (kind === undefined)
    return complain(
      `in this mode, files belong into ${kinds.map((each) => `.pawl/output/${outputFolders[each]}/`).join(', ')}.`,
    );
  const split = splitFrontMatter(text);
  if (!split.ok) return complain(`line ${split.line}: ${split.reason}.`);
  const yaml = context.readYaml(quoteColons(split.yaml));
  if (!yaml.ok) return complain(`line ${yaml.line}: ${yaml.reason}.`);
  const fields = readFields(yaml.fields, kind, context.mode);
  if ('reason' in fields) return complain(fields.reason);
  const { values } = fields;
  const id = values['id'] ?? '';
  if (typeof id !== 'string' || !idSchema.safeParse(id).success)
    return complain('the field id must be 22 characters, from `pawl id`.');
  if (`${id}.md` !== name) return complain(`the file has to be named by its id: ${id}.md.`);
  const before = recordOf(context.content, kind, id);
  const usual = before === null ? 'create' : 'update';
  const parsed = planItemSchema.safeParse({
    kind,
    id,
    action: values['action'] ?? usual,
    name: values[nameField[kind]] ?? '',
    text: split.body,
    decision: values['decision'],
    parentId: parentOf(kind, values, before, context),
    dependsOn: values['dependencies'] ?? [],
    ifFailed: values['if_failed'] ?? [],
    files: values['files'] ?? [],
    priority: values['priority'] ?? (before as { priority?: string } | null)?.priority,
    isIntegration: (before as { isIntegration?: boolean } | null)?.isIntegration,
  });
  if (parsed.success) return { item: parsed.data };
  const [issue] = parsed.error.issues;
  return complain(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}.`);
}

const nameField: Record<PlanKind, string> = { page: 'title', decision: 'topic', phase: 'name', task: 'name' };

const fieldsOf: Record<PlanKind, readonly string[]> = {
  page: ['id', 'title', 'name', 'summary', 'parent'],
  decision: ['id', 'topic', 'name', 'decision'],
  phase: ['id', 'name', 'dependencies', 'files'],
  task: ['id', 'name', 'dependencies', 'if_failed', 'files', 'priority', 'phase'],
};

/** The values of known fields, or why they cannot be read. */
function readFields(
  fields: readonly Field[],
  kind: PlanKind,
  mode: WorkMode,
): { values: Record<string, unknown> } | { reason: string } {
  const values: Record<string, unknown> = {};
  for (const { name, line, value } of fields) {
    const isKnown = fieldsOf[kind].includes(name) || (name === 'action' && mode === 'refine-chat');
    if (!isKnown)
      return {
        reason: `line ${line}: there is no field ${JSON.stringify(name)}; a ${kind} has ${fieldsOf[kind].join(', ')}.`,
      };
    if (value !== null) values[name] = value;
  }
  // A chat calls everything `name`.
  if (values[nameField[kind]] === undefined && values['name'] !== undefined) values[nameField[kind]] = values['name'];
  if (mode === 'refine-chat' && values['action'] === undefined)
    return { reason: 'the field action is missing: create, update or delete.' };
  return { values };
}

/** The page above a page, or the phase of a task; what is not stated stays. */
function parentOf(
  kind: PlanKind,
  values: Record<string, unknown>,
  before: unknown,
  { phaseId }: OutputContext,
): unknown {
  if (kind === 'page') return values['parent'] ?? (before as { parentId?: string } | null)?.parentId ?? null;
  if (kind === 'task') return values['phase'] ?? (before as { phaseId?: string } | null)?.phaseId ?? phaseId;
  return null;
}
