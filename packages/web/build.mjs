import tailwind from '@tailwindcss/vite';
import { join } from 'node:path';
import { build } from 'vite';

/** Builds the page into a directory: one document, and files named by a hash of their content. */
export function buildPage(directory) {
  return build({
    root: join(import.meta.dirname, 'src'),
    configFile: false,
    logLevel: 'warn',
    plugins: [tailwind()],
    build: {
      outDir: directory,
      emptyOutDir: true,
      target: 'es2023',
      // The page's policy allows no inline files.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
}
