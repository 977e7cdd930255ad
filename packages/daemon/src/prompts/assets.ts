import type { PromptAssets } from '@pawl/core/prompts/assets';
import { readPromptAssets } from '@pawl/core/prompts/assets';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Loads the prompt texts from the program's own directory. */
export async function loadPromptAssets(directory: string): Promise<PromptAssets> {
  const names = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.md'));
  const texts = await Promise.all(
    names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const),
  );
  return readPromptAssets(new Map(texts));
}
