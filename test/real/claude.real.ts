import { tryCli } from './capabilities.ts';

tryCli('claude');
