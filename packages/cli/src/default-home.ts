import type { Home } from '@pawl/protocol/node/home';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Whether commands find this home by default. */
export function isDefaultHome({ root }: Pick<Home, 'root'>): boolean {
  return root === join(homedir(), '.pawl');
}
