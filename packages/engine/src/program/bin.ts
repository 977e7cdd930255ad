import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// The build leaves compiled code here. Agents cannot write to it from a sandbox, so none can change the code of another.
const compiled = join(import.meta.dirname, 'compiled-engine');
if (existsSync(compiled)) enableCompileCache(compiled);
const { main } = await import('./main.ts');

process.exit(await main(process.argv.slice(2)));
