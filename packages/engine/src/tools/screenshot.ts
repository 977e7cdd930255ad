import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';
import { engineLimits } from '../limit.ts';
import { runProgram } from './run-program.ts';
import type { Tool } from './tool.ts';
import { failed } from './tool.ts';

const input = z.strictObject({
  url: z
    .url({ protocol: /^https?$/ })
    .max(4_000)
    .describe('Begins with http:// or https://.'),
  delay_ms: z.number().int().min(0).max(20_000).optional().describe('How long the page may work first. Default 1000.'),
});

/** The programs that are tried, after the one that the variable names. */
const browsers = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const variable = 'PAWL_BROWSER';

export const captureScreenshot: Tool<z.infer<typeof input>> = {
  name: 'capture_screenshot',
  description: 'Opens a page in a browser and shows a picture of it. Needs Chromium or Chrome.',
  input,
  describe: ({ url }) => ({ title: `Take a picture of ${url}`, input: { url } }),
  async run({ url, delay_ms: delayMs = 1_000 }, { root, signal }) {
    const directory = await mkdtemp(join(tmpdir(), 'pawl-screenshot-'));
    try {
      const file = join(directory, 'page.png');
      const words = [
        '--headless=new',
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
        '--disable-gpu',
        '--hide-scrollbars',
        '--window-size=1280,800',
        `--user-data-dir=${join(directory, 'profile')}`,
        `--virtual-time-budget=${delayMs}`,
        `--screenshot=${file}`,
        url,
      ];
      const named = process.env[variable];
      for (const browser of named ? [named] : browsers) {
        const end = await runProgram(browser, words, { cwd: root, signal });
        if (end === null) continue;
        signal.throwIfAborted();
        const picture = await readFile(file).catch(() => null);
        if (picture === null) return failed(`The browser made no picture: ${end.stderr.trim().slice(-500)}`);
        if (picture.length > engineLimits.imageBytes) return failed('The picture is too large.');
        const image = { type: 'image' as const, mediaType: 'image/png', base64: picture.toString('base64') };
        return { text: `${url} (1280 × 800)`, isError: false, images: [image] };
      }
      return failed(
        `There is no browser here. Install Chromium, or name one in ${variable}; otherwise use WebFetch or curl.`,
      );
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};
