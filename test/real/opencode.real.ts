import { tryCli } from './capabilities.ts';

tryCli('opencode');
