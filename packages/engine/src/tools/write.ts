import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import type { Tool } from './tool.ts';
import { done, failed } from './tool.ts';
import { readInside, refuseLarge, writeInside } from './workspace-file.ts';
import { refuseGit, resolveInside } from './workspace-path.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('The file, relative to the workspace.'),
  content: z.string().describe('The whole content.'),
});

export const write: Tool<z.infer<typeof input>> = {
  name: 'Write',
  description: 'Writes a whole file; creates its directories. Read an existing file first.',
  input,
  describe: ({ path, content }) => ({ title: `Write ${path}`, input: { file_path: path, content } }),
  async run({ path, content }, { root, files }) {
    const place = await resolveInside(root, path);
    refuseGit(place);
    const bytes = Buffer.from(content);
    refuseLarge(bytes.length, place.shown);
    const before = await readInside(place, engineLimits.fileBytes);
    const verdict = files.judge(place, before?.bytes ?? null);
    if ('refused' in verdict) return failed(verdict.refused);
    await writeInside(place, bytes, randomUUID());
    files.remember(place, bytes);
    const said = `${before === null ? 'Created' : 'Replaced'} ${place.shown} (${bytes.length} bytes).`;
    return done(verdict.warning === null ? said : `${said}\n${verdict.warning}`);
  },
};
