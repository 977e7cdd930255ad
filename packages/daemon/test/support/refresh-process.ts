import { createRefresh } from '@pawl/daemon/queue/refresh';
import { openBranchShop } from './branch-shop.ts';

/** A process that brings the worktrees of a home up to main once, and ends: `node refresh-process.ts <place>`. */
const [place = ''] = process.argv.slice(2);
await using platform = await openBranchShop(place);
await createRefresh(platform.platform, { reconciler: { inLane: (_, act) => act() } }).tick();
