// Proves the sandbox as the user that runs this, and prints the properties that do not hold.
import { probeSandbox } from '../../src/probe.ts';
import { proveSandbox } from '../../src/prove.ts';

const sandbox = await probeSandbox();
const proofs = sandbox.works ? await proveSandbox(sandbox.machine, process.argv[2] ?? '') : null;
process.stdout.write(JSON.stringify(proofs?.filter(({ holds }) => !holds).map(({ name }) => name) ?? sandbox));
