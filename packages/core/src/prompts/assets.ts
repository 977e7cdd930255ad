import type { WorkMode } from '@pawl/schema/record';
import { workModes } from '@pawl/schema/record';
import { createEscape } from './tag.ts';
import type { TemplatePart } from './template.ts';
import { parseTemplate } from './template.ts';

/** The texts that prompts are assembled from; they ship with the program. */
export type PromptAssets = {
  /** The parts of each mode's prompt, in order. An empty text is a slot to fill at assembly. */
  modes: Record<WorkMode, TemplatePart[]>;
  signalFormat: string;
  communication: { full: string; minimal: string; lasting: string };
  /** The commands that an agent may use, one per line. */
  commands: string;
  /** Escapes foreign text for a prompt, so that it can neither open nor close one of our tags. */
  escape(text: string): string;
};

/** Parts without a text of their own: the task, and the earlier conversation. */
export const askedTags = ['task', 'request', 'instruction'] as const;
export const chatHistoryTag = 'chat_history';

/** Without a text in the mode's file, the role is the definition's text. */
export const roleTag = 'role';

/** Paths of all required assets; some mode names each shared block. */
const modePath = (mode: string) => `mode/${mode}.md`;
const sharedPath = (tag: string) => `shared/${tag.replaceAll('_', '-')}.md`;

/** Builds the assets from file texts by path. Throws if one is missing or malformed. */
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
  const modes = Object.fromEntries(workModes.map((mode) => [mode, partsOf(mode)])) as PromptAssets['modes'];
  return {
    modes,
    signalFormat: textOf(sharedPath('signal_format')),
    communication: {
      full: textOf('communication/full.md'),
      minimal: textOf('communication/minimal.md'),
      lasting: textOf('communication/lasting.md'),
    },
    commands: textOf('cli.md'),
    escape: createEscape(Object.values(modes).flatMap((parts) => parts.map(({ tag }) => tag))),
  };
}
