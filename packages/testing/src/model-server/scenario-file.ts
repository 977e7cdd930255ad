import { readFileSync, statSync } from 'node:fs';
import { messageOf, PawlError } from '@pawl/schema/error';
import * as z from 'zod';
import { modelServerLimits } from './limit.ts';
import type { Scenario } from './step.ts';
import { scenarioSchema } from './step.ts';

/** Reads a scenario file, JSON or YAML, or throws an error that names what is wrong with it. */
export async function readScenarioFile(path: string): Promise<Scenario> {
  const parsed = scenarioSchema.safeParse(await readDocument(path));
  if (parsed.success) return parsed.data;
  throw invalid(path, `\n${z.prettifyError(parsed.error)}`);
}

async function readDocument(path: string): Promise<unknown> {
  try {
    if (statSync(path).size > modelServerLimits.scenarioBytes) {
      throw invalid(path, `it is larger than ${modelServerLimits.scenarioBytes} bytes`);
    }
    const text = readFileSync(path, 'utf8');
    const { parseYaml } = await import('../scripted-agent/yaml-document.ts');
    return path.endsWith('.json') ? JSON.parse(text) : parseYaml(text);
  } catch (error) {
    throw error instanceof PawlError ? error : invalid(path, messageOf(error).trim(), error);
  }
}

function invalid(path: string, detail: string, cause?: unknown): PawlError {
  return new PawlError('invalid_input', `The scenario file ${path} cannot be used: ${detail}`, {
    hint: 'See docs/model-server.md for every step with an example, or name a built-in scenario.',
    cause,
  });
}
