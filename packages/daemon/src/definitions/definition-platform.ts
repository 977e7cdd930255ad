import type { Platform } from '../platform/platform.ts';
import type { Definitions } from './definitions.ts';

/** The platform of rooms that look up definitions. */
export type DefinitionPlatform = Platform & { definitions: Definitions };
