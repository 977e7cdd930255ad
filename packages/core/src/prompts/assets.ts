import type { WorkMode } from '@pawl/schema/record';
import { workModes } from '@pawl/schema/record';
import type { TemplatePart } from './template.ts';
import { parseTemplate } from './template.ts';

/** What prompts are made of: the texts that come along with the program. */
export type PromptAssets = {
  /** The parts of each mode's prompt in their order. An empty text is a slot that is filled when a prompt is made. */
  modes: Record<WorkMode, TemplatePart[]>;
  signalFormat: string;
  communication: { full: string; minimal: string; lasting: string };
  /** The commands that an agent may use, a line each. */
  commands: string;
};

/** The parts of a mode that have no text of their own anywhere: what an agent is asked, and what was said before. */
export const askedTags = ['task', 'request', 'instruction'] as const;
export const chatHistoryTag = 'chat_history';

/** Without a text in the mode's file, the role is the text of the agent's definition. */
export const roleTag = 'role';

/** Every file that is needed, by its path among the assets; each shared block is one that some mode names. */
const modePath = (mode: string) => `mode/${mode}.md`;
const sharedPath = (tag: string) => `shared/${tag.replaceAll('_', '-')}.md`;

/** Makes prompts' parts of the files' texts, by their paths. Throws when one is missing or malformed. */
export function readPromptAssets(files: ReadonlyMap<string, string>): PromptAssets {
  const textOf = (path: string): string => {
    const text = files.get(path)?.trim();
    if (text === undefined || text === '') throw new Error(`the prompt asset ${path} is missing or empty`);
    return text;
  };
  const slots: readonly string[] = [...askedTags, chatHistoryTag, roleTag];
  const partsOf = (mode: WorkMode): TemplatePart[] => {
    const parts = parseTemplate(mode, textOf(modePath(mode)));
    if (parts.filter(({ tag }) => (askedTags as readonly string[]).includes(tag)).length !== 1) {
      throw new Error(`the prompt ${mode} must have exactly one of ${askedTags.join(', ')}`);
    }
    return parts.map(({ tag, text }) => ({
      tag,
      text: text === '' && !slots.includes(tag) ? textOf(sharedPath(tag)) : text,
    }));
  };
  return {
    modes: Object.fromEntries(workModes.map((mode) => [mode, partsOf(mode)])) as PromptAssets['modes'],
    signalFormat: textOf(sharedPath('signal_format')),
    communication: {
      full: textOf('communication/full.md'),
      minimal: textOf('communication/minimal.md'),
      lasting: textOf('communication/lasting.md'),
    },
    commands: textOf('cli.md'),
  };
}
