import { checksOf, openCheckHome } from './check-home.ts';

/**
 * A process that starts one check and watches it until it is killed, or the check is over: a minimal daemon. `node
 * check-process.ts <place> <command>...`
 */
const [place = '', ...commands] = process.argv.slice(2);
const platform = await openCheckHome(place);
const { id } = await platform.start(platform.checker(), checksOf(commands));
await platform.result(id);
