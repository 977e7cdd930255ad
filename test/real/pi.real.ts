import { tryCli } from './capabilities.ts';

tryCli('pi');
