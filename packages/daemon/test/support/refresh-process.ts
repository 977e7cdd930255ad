import { createRefresh } from '@pawl/daemon/queue/refresh';
import { openBranchHome } from './branch-home.ts';

/** A process that updates the worktrees of a home to main once, and exits: `node refresh-process.ts <place>`. */
const [place = ''] = process.argv.slice(2);
await using platform = await openBranchHome(place);
await createRefresh(platform.platform, { reconciler: { inLane: (_, act) => act() } }).tick();
