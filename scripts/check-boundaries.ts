import { importViolations, readWorkspace, workspaceRoot } from './import-boundaries.ts';

const { files, manifests } = readWorkspace(process.argv[2] ?? workspaceRoot);
const violations = importViolations(files, manifests);
for (const { file, line, imports, why } of violations) {
  process.stdout.write(`${file}:${line} imports ${imports}: ${why}\n`);
}
if (violations.length > 0) process.exitCode = 1;
