// Proves the sandbox as another user, and prints the properties that do not hold. The change of user comes after the
// imports, since that user may not reach this file.
import { probeSandbox } from '../../src/probe.ts';
import { proveSandbox } from '../../src/prove.ts';

const [directory = '', user] = process.argv.slice(2);
if (user !== undefined) {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}
const sandbox = await probeSandbox();
const proofs = sandbox.works ? await proveSandbox(sandbox.machine, directory) : null;
process.stdout.write(JSON.stringify(proofs?.filter(({ holds }) => !holds).map(({ name }) => name) ?? sandbox));
