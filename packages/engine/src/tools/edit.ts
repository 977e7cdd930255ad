import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import type { Tool } from './tool.ts';
import { done, failed } from './tool.ts';
import { readInside, refuseLarge, writeInside } from './workspace-file.ts';
import { refuseGit, resolveInside } from './workspace-path.ts';

const replacement = z.strictObject({
  old_string: z.string().min(1).describe('The text to replace, exactly as it is in the file.'),
  new_string: z.string().describe('The text that takes its place.'),
  replace_all: z.boolean().optional().describe('Replaces every occurrence; otherwise there must be exactly one.'),
});
type Replacement = z.infer<typeof replacement>;

const input = z.strictObject({
  path: z.string().min(1).describe('The file, relative to the workspace.'),
  edits: z.array(replacement).min(1).max(100).describe('Applied in order, all of them or none.'),
});

export const edit: Tool<z.infer<typeof input>> = {
  name: 'Edit',
  description: 'Replaces exact pieces of text in a file. All edits are applied, or none.',
  input,
  describe: ({ path, edits }) => ({ title: `Edit ${path}`, input: { file_path: path, edits } }),
  async run({ path, edits }, { root, files }) {
    const place = await resolveInside(root, path);
    refuseGit(place);
    const found = await readInside(place, engineLimits.fileBytes);
    if (found === null) return failed(`There is no file ${place.shown}.`);
    refuseLarge(found.sizeBytes, place.shown);
    const text = found.bytes.toString('utf8');
    if (!Buffer.from(text).equals(found.bytes)) return failed(`${place.shown} is not a text in UTF-8.`);
    const verdict = files.judge(place, found.bytes);
    if ('refused' in verdict) return failed(verdict.refused);
    const result = applyEdits(text, edits);
    if ('problem' in result) return failed(`Nothing was changed: ${result.problem}`);
    const bytes = Buffer.from(result.text);
    refuseLarge(bytes.length, place.shown);
    await writeInside(place, bytes, randomUUID());
    files.remember(place, bytes);
    return done(`Made ${result.count} ${result.count === 1 ? 'replacement' : 'replacements'} in ${place.shown}.`);
  },
};

/** Applies replacements in order. */
function applyEdits(
  text: string,
  edits: readonly Replacement[],
): { text: string; count: number } | { problem: string } {
  let result = text;
  let count = 0;
  for (const [index, { old_string: old, new_string: replaced, replace_all: all = false }] of edits.entries()) {
    const occurrences = result.split(old).length - 1;
    const which = edits.length === 1 ? 'the text' : `the text of edit ${index + 1}`;
    if (old === replaced) return { problem: `${which} is replaced by itself.` };
    if (occurrences === 0) return { problem: `${which} does not occur.` };
    if (occurrences > 1 && !all) {
      return { problem: `${which} occurs ${occurrences} times. Give more of it, or set replace_all.` };
    }
    result = result.split(old).join(replaced);
    count += occurrences;
  }
  return { text: result, count };
}
