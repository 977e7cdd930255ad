import { createRefresh } from '@pawl/daemon/queue/refresh';
import { openBranchShop } from './branch-shop.ts';

/** A process that updates the worktrees of a home to main once, and exits: `node refresh-process.ts <place>`. */
const [place = ''] = process.argv.slice(2);
await using platform = await openBranchShop(place);
await createRefresh(platform.platform, { reconciler: { inLane: (_, act) => act() } }).tick();
