import tailwind from '@tailwindcss/vite';
import { join } from 'node:path';
import { build } from 'vite';

/** Builds the page into a directory: one document, and files named by a hash of their content. */
export function buildPage(directory) {
  // A test run that builds has another mode, and React would be built for development.
  process.env.NODE_ENV = 'production';
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
      rolldownOptions: {
        // Libraries mark files for servers, of which there is none here.
        onLog: (level, log, report) => log.code === 'MODULE_LEVEL_DIRECTIVE' || report(level, log),
      },
    },
  });
}
