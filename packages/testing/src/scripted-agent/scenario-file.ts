import { readFileSync, statSync } from 'node:fs';
import { hasErrno, messageOf, PawlError } from '@pawl/schema/error';
import * as z from 'zod';
import { scriptedLimits } from './limit.ts';
import type { Scenario, Step } from './scenario.ts';
import { stepSchemas } from './step-schema.ts';

const scenarioSchema = z.strictObject({ name: z.string().optional(), steps: z.array(z.unknown()) });

/** Reads a scenario file, YAML or JSON, or throws an error that names every bad field. */
export async function readScenarioFile(path: string): Promise<Scenario> {
  const faults: string[] = [];
  const scenario = parseScenario(await readDocument(path), path, faults);
  if (faults.length === 0) return scenario;
  const shown = faults.slice(0, scriptedLimits.scenarioFaults);
  const more = faults.length > shown.length ? [`and ${faults.length - shown.length} more`] : [];
  throw invalid(path, [...shown, ...more].join('\n  '));
}

async function readDocument(path: string): Promise<unknown> {
  let text: string;
  try {
    const { size } = statSync(path);
    if (size > scriptedLimits.scenarioBytes)
      throw invalid(path, `it is larger than ${scriptedLimits.scenarioBytes} bytes`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (!hasErrno(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES')) throw error;
    throw new PawlError('invalid_input', `The scenario file ${path} cannot be read: ${messageOf(error)}`, {
      hint: 'Name an existing file with --scenario, or leave it out for the built-in scenario.',
      cause: error,
    });
  }
  try {
    // JSON is YAML, too, but its own parser is already loaded.
    return path.endsWith('.json') ? JSON.parse(text) : (await import('./yaml-document.ts')).parseYaml(text);
  } catch (error) {
    throw invalid(path, messageOf(error).trim(), error);
  }
}

function parseScenario(document: unknown, path: string, faults: string[]): Scenario {
  const parsed = scenarioSchema.safeParse(document);
  if (!parsed.success) {
    faults.push(...describeIssues('', parsed.error));
    return { name: path, steps: [] };
  }
  const steps: Step[] = [];
  readSteps(parsed.data.steps, { where: 'steps', depth: 0, n: undefined, steps, faults });
  return { name: parsed.data.name ?? path, steps };
}

type Reading = { where: string; depth: number; n: number | undefined; steps: Step[]; faults: string[] };

function readSteps(list: unknown[], reading: Reading): void {
  for (const [index, item] of list.entries()) readStep(item, { ...reading, where: `${reading.where}[${index}]` });
}

function readStep(item: unknown, reading: Reading): void {
  const { where, faults, steps, n } = reading;
  const entry = typeof item === 'string' ? { [item]: null } : item;
  const keys = entry !== null && typeof entry === 'object' && !Array.isArray(entry) ? Object.keys(entry) : [];
  const [kind, ...others] = keys;
  if (kind === undefined || others.length > 0) {
    faults.push(`${where}: expected a step with exactly one key, such as "say: hello"`);
    return;
  }
  if (!Object.hasOwn(stepSchemas, kind)) {
    faults.push(`${where}: unknown step "${kind.slice(0, 80)}"; the steps are ${Object.keys(stepSchemas).join(', ')}`);
    return;
  }
  const schema = stepSchemas[kind as keyof typeof stepSchemas];
  const parsed = schema.safeParse((entry as Record<string, unknown>)[kind]);
  if (!parsed.success) {
    faults.push(...describeIssues(`${where}.${kind}`, parsed.error));
  } else if (kind === 'repeat') {
    unroll(parsed.data as z.output<typeof stepSchemas.repeat>, { ...reading, where: `${where}.repeat.steps` });
  } else if (steps.length >= scriptedLimits.scenarioSteps) {
    if (!faults.includes(tooManySteps)) faults.push(tooManySteps);
  } else {
    steps.push({ kind, value: parsed.data, ...(n === undefined ? {} : { n }) } as Step);
  }
}

const tooManySteps = `steps: more than ${scriptedLimits.scenarioSteps} steps, with every repeat unrolled`;

/** The body is parsed once per round, which is cheap and gives each round its own `n`. */
function unroll(repeat: { times: number; steps: unknown[] }, reading: Reading): void {
  if (reading.depth >= scriptedLimits.repeatDepth) {
    reading.faults.push(`${reading.where}: repeat is nested more than ${scriptedLimits.repeatDepth} deep`);
    return;
  }
  for (let n = 1; n <= repeat.times; n += 1) {
    readSteps(repeat.steps, { ...reading, n, depth: reading.depth + 1 });
    if (reading.faults.length > 0) return;
  }
}

function describeIssues(where: string, error: z.ZodError): string[] {
  return error.issues.map((issue) => {
    const path = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
    const field = `${where}${path}`.replace(/^\./, '');
    return `${field === '' ? 'the file' : field}: ${issue.message}`;
  });
}

function invalid(path: string, detail: string, cause?: unknown): PawlError {
  return new PawlError('invalid_input', `The scenario file ${path} is not valid:\n  ${detail}`, {
    hint: 'See docs/scripted-agent.md for every step with an example.',
    cause,
  });
}
