import type { ProjectConfig } from '@pawl/schema/project-config';
import type { Bench } from './advance.ts';
import type { ForgeLink } from './forge.ts';

/** What a look at a project's forge works with. */
export type ForgeBench = Bench & { config: ProjectConfig; link: ForgeLink };
