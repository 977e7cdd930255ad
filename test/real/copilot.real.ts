import { tryCli } from './capabilities.ts';

tryCli('copilot');
