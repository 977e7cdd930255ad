import { fixChange } from '@pawl/daemon/changes/repair/change-fix';
import { openBranchHome } from './branch-home.ts';

/**
 * A process that opens or completes the conflict of a change, and exits: `node fix-process.ts <place> <change>
 * [--continue]`.
 */
const [place = '', changeId = '', proceed] = process.argv.slice(2);
await using platform = await openBranchHome(place);
await fixChange(platform.platform, { inLane: (_, act) => act() }, { changeId, proceed: proceed !== undefined });
