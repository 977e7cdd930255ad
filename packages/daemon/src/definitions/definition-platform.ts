import type { Platform } from '../platform/platform.ts';
import type { Definitions } from './definitions.ts';

/** The platform of a room that looks definitions up. */
export type DefinitionPlatform = Platform & { definitions: Definitions };
