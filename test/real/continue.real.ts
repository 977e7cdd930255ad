import { tryCli } from './capabilities.ts';

tryCli('continue');
