import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';
import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import type { Tool } from './tool.ts';
import { done, failed } from './tool.ts';

/** A piece of knowledge that the model loads when it needs it. */
export type Skill = { name: string; description: string; directory: string; text: string };

/**
 * Reads the skills below some directories, each a folder with a `SKILL.md`. The first of a name counts. One that is
 * malformed, too long or reached by a link out of its directory is left out.
 */
export function readSkills(directories: readonly string[]): Skill[] {
  const found = new Map<string, Skill>();
  for (const directory of directories) {
    for (const name of entriesOf(directory)) {
      const skill = found.size < engineLimits.skills ? readSkill(directory, name) : null;
      if (skill !== null && !found.has(skill.name)) found.set(skill.name, skill);
    }
  }
  return [...found.values()];
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch {
    return [];
  }
}

function readSkill(directory: string, folder: string): Skill | null {
  try {
    const path = realpathSync(join(directory, folder, 'SKILL.md'));
    if (!path.startsWith(`${realpathSync(directory)}${sep}`) || statSync(path).size > engineLimits.skillBytes)
      return null;
    const [, front = '', text = ''] = /^---\r?\n(.*?)\r?\n---\r?\n?(.*)$/s.exec(readFileSync(path, 'utf8')) ?? [];
    const field = (name: string) =>
      new RegExp(`^${name}:[ \\t]*(.*)$`, 'm')
        .exec(front)?.[1]
        ?.trim()
        .replace(/^(["'])(.*)\1$/, '$2') ?? '';
    const [name, description] = [field('name') || folder, field('description')];
    if (!/^[\w.-]{1,64}$/.test(name) || description === '') return null;
    return { name, description: description.slice(0, 500), directory: join(directory, folder), text: text.trim() };
  } catch {
    return null;
  }
}

/** The part of the system prompt that names the skills; empty without any. */
export function skillsPrompt(skills: readonly Skill[]): string {
  if (skills.length === 0) return '';
  const lines = skills.map(({ name, description }) => `- ${name}: ${description}`);
  return `Skills. Load one with the tool Skill before you do what it is about:\n${lines.join('\n')}`;
}

const input = z.strictObject({ skill: z.string().min(1).max(64).describe('Its name.') });

/** Loads a skill. It grants no rights: only its text is used. */
export function skillTool(skills: readonly Skill[]): Tool {
  const tool: Tool<z.infer<typeof input>> = {
    name: 'Skill',
    description: 'Loads the text of a skill.',
    input,
    describe: ({ skill }) => ({ title: `Load the skill ${skill}`, input: { skill } }),
    run({ skill }) {
      const found = skills.find(({ name }) => name === skill);
      if (found !== undefined) return Promise.resolve(done(`Its files are in ${found.directory}.\n\n${found.text}`));
      return Promise.resolve(
        failed(`There is no skill ${skill}. There are: ${skills.map(({ name }) => name).join(', ')}.`),
      );
    },
  };
  return tool;
}
