import { tryCli } from './capabilities.ts';

tryCli('cline');
