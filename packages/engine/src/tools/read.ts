import { extname } from 'node:path';
import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import type { Tool, ToolOutcome } from './tool.ts';
import { done, failed } from './tool.ts';
import { readInside } from './workspace-file.ts';
import { resolveInside } from './workspace-path.ts';

const input = z.strictObject({
  path: z.string().min(1).describe('The file, relative to the workspace.'),
  max_bytes: z.number().int().min(1).max(engineLimits.readMostBytes).optional().describe('Default 65536.'),
  line_range: z.array(z.number().int().min(1)).length(2).optional().describe('The first and the last line to show.'),
});
type Input = z.infer<typeof input>;

const imageTypes: Record<string, string> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

export const read: Tool<Input> = {
  name: 'Read',
  description: 'Reads a text file, with line numbers, or an image. Long files are cut; read the rest with line_range.',
  input,
  describe: ({ path }) => ({ title: `Read ${path}`, input: { file_path: path } }),
  async run({ path, max_bytes: mostBytes = engineLimits.readBytes, line_range: range }, { root, files }) {
    const place = await resolveInside(root, path);
    const mediaType = imageTypes[extname(place.absolute).toLowerCase()];
    const found = await readInside(place, engineLimits.fileBytes);
    if (found === null) return failed(`There is no file ${place.shown}.`);
    if (found.bytes.length === found.sizeBytes) files.remember(place, found.bytes);
    if (mediaType !== undefined) return image(found.bytes, mediaType, place.shown);
    if (found.bytes.subarray(0, 8_000).includes(0)) return failed(`${place.shown} is a binary file.`);
    return done(numbered(found.bytes.toString('utf8'), range ?? null, mostBytes));
  },
};

function image(bytes: Buffer, mediaType: string, shown: string): ToolOutcome {
  if (bytes.length > engineLimits.imageBytes) return failed(`${shown} is too large for an image.`);
  const images = [{ type: 'image' as const, mediaType, base64: bytes.toString('base64') }];
  return { text: `${shown} (${mediaType}, ${bytes.length} bytes)`, isError: false, images };
}

/** Lines with their numbers, as many as fit. */
function numbered(text: string, range: number[] | null, mostBytes: number): string {
  if (text === '') return '(empty file)';
  const lines = text.replace(/\n$/, '').split('\n');
  const [first = 1, last = lines.length] = range ?? [];
  const shown: string[] = [];
  let bytes = 0;
  for (let number = first; number <= Math.min(last, lines.length); number++) {
    const line = `${String(number).padStart(6)}\t${lines[number - 1] ?? ''}`;
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > mostBytes && shown.length > 0) {
      return `${shown.join('\n')}\n[cut after line ${number - 1} of ${lines.length}; read on with line_range]`;
    }
    shown.push(bytes > mostBytes ? `${line.slice(0, mostBytes)} [cut]` : line);
  }
  return shown.length === 0 ? `(the file has only ${lines.length} lines)` : shown.join('\n');
}
