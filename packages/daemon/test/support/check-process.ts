import { checksOf, openCheckShop } from './check-shop.ts';

/**
 * A process that starts one check and looks after it until it is killed, or the check is over: a daemon that does nothing
 * else. `node check-process.ts <place> <command>...`
 */
const [place = '', ...commands] = process.argv.slice(2);
const shop = await openCheckShop(place);
const { id } = await shop.start(shop.checker(), checksOf(commands));
await shop.result(id);
